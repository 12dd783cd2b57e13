{{- define "trawler.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 53 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 53 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "trawler.selector" -}}
app.kubernetes.io/name: trawler
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "trawler.labels" -}}
{{ include "trawler.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "trawler.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ printf "%s@%s" .repository .digest }}{{ else }}{{ printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}{{ end }}
{{- end }}
{{- end }}

{{/* The tier figures runs as nobody; the others as root with the capabilities named here and no other. */}}
{{- define "trawler.capabilities" -}}
{{- if eq .Values.tier "files" }}[SYS_PTRACE, DAC_READ_SEARCH]{{ else if eq .Values.tier "namespaces" }}[SYS_PTRACE, DAC_READ_SEARCH, SYS_ADMIN]{{ else }}[]{{ end }}
{{- end }}

{{- define "trawler.kafka" -}}
{{- $folder := "/etc/trawler-kafka" }}
{{- with .Values.kafka }}
brokers: {{ toJson .brokers }}
topic: {{ quote .topic }}
createTopic: {{ .createTopic }}
compression: {{ .compression }}
{{- if .sasl.mechanism }}
sasl:
  mechanism: {{ .sasl.mechanism }}
  username: {{ printf "${file:%s/%s}" $folder .sasl.usernameKey | quote }}
  passwordFile: {{ printf "%s/%s" $folder .sasl.passwordKey | quote }}
{{- end }}
{{- if .tls.enabled }}
tls:
  {{- with .tls }}
  {{- if .caKey }}
  ca: {{ printf "%s/%s" $folder .caKey | quote }}
  {{- end }}
  {{- if .certificateKey }}
  certificate: {{ printf "%s/%s" $folder .certificateKey | quote }}
  {{- end }}
  {{- if .privateKeyKey }}
  key: {{ printf "%s/%s" $folder .privateKeyKey | quote }}
  {{- end }}
  {{- if .serverName }}
  serverName: {{ quote .serverName }}
  {{- end }}
  {{- if not (or .caKey .certificateKey .serverName) }} {}{{ end }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The configuration file of the agent, before .Values.config is laid over it. */}}
{{- define "trawler.config" -}}
cluster:
  name: {{ quote .Values.cluster.name }}
node:
  name: "${env:NODE_NAME}"
host:
  # The node's root is that of its first process: always what the node sees, with nothing of it mounted here.
  {{- if ne .Values.tier "figures" }}
  root: /proc/1/root
  {{- end }}
  cgroup: /host/sys/fs/cgroup
http:
  address: "${env:POD_IP}"
  port: {{ .Values.http.port }}
state:
  folder: /var/lib/trawler
pipelines:
  default:
    environment:
      kubernetes:
        discovery: {{ ternary "api" .Values.discovery (eq .Values.tier "figures") }}
        {{- with .Values.runtimeSockets }}
        sockets: {{ toJson . }}
        {{- end }}
        kubelet:
          root: {{ quote .Values.kubeletRoot }}
        {{- with .Values.excludeNamespaces }}
        exclude:
          namespaces: {{ toJson . }}
        {{- end }}
    mode:
      pod: {}
    every: {{ .Values.every }}
    {{- if .Values.crawlers }}
    crawlers:
      {{- toYaml .Values.crawlers | nindent 6 }}
    {{- else if eq .Values.tier "figures" }}
    crawlers: { cpu: {}, memory: {}, blockio: {}, network: {}, process: {}, connection: {} }
    {{- end }}
    emitters:
      kafka:
        {{- include "trawler.kafka" . | trim | nindent 8 }}
{{- end }}
