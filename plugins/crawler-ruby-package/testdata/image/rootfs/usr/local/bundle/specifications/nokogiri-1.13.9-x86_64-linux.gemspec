# -*- encoding: utf-8 -*-
