import { assignments, MAX_VALUE, type OperatingSystem } from "./parse.ts";

const NOTHING: OperatingSystem = {
  id: null,
  idLike: null,
  name: null,
  version: null,
  codename: null,
  prettyName: null,
};

/** `/etc/lsb-release`, which Ubuntu had before os-release(5): assignments that begin with DISTRIB_. */
export function parseLsbRelease(text: string): OperatingSystem {
  const field = assignments(text);
  const name = field("DISTRIB_ID");
  return {
    ...NOTHING,
    id: name?.toLowerCase() ?? null,
    name,
    version: field("DISTRIB_RELEASE"),
    codename: field("DISTRIB_CODENAME"),
    prettyName: field("DISTRIB_DESCRIPTION"),
  };
}

/** Ids of os-release(5) for the names that stand in files of one line. */
const IDS: readonly (readonly [start: string, id: string])[] = [
  ["red hat enterprise linux", "rhel"],
  ["suse linux enterprise", "sles"],
  ["centos", "centos"],
  ["fedora", "fedora"],
  ["amazon linux", "amzn"],
  ["oracle linux", "ol"],
  ["opensuse", "opensuse"],
];

/** `/etc/redhat-release` and its like, one line: `CentOS Linux release 6.8 (Final)`. */
export function parseRedHatRelease(text: string): OperatingSystem {
  const [line = ""] = text.slice(0, MAX_VALUE).trim().split(/\r?\n/);
  const match = /^(.+?) release (\d+(?:\.\d+)*)(?: \(([^)]*)\))?/.exec(line);
  if (match === null) return NOTHING;
  const [, name = "", version = null, codename = null] = match;
  return { ...NOTHING, id: idOf(name), name, version, codename, prettyName: line };
}

/** `/etc/SuSE-release`: the name, then VERSION and PATCHLEVEL, of which 0 is none. */
export function parseSuseRelease(text: string): OperatingSystem {
  const [line = ""] = text.slice(0, MAX_VALUE).trim().split(/\r?\n/);
  const name = line.replace(/ \d.*$/, "");
  const number = (field: string): string | null =>
    new RegExp(`^${field}\\s*=\\s*(\\d[\\d.]{0,15})\\s*$`, "m").exec(text.slice(0, MAX_VALUE))?.[1] ?? null;
  const [version, patch] = [number("VERSION"), number("PATCHLEVEL")];
  if (version === null) return NOTHING;
  const whole = patch === null || patch === "0" ? version : `${version}.${patch}`;
  return { ...NOTHING, id: idOf(name), name: name || null, version: whole, prettyName: line || null };
}

function idOf(name: string): string {
  const lower = name.toLowerCase();
  return IDS.find(([start]) => lower.startsWith(start))?.[1] ?? lower.split(" ")[0] ?? lower;
}
