/**
 * The path below the cgroup root of a `cgroupsPath` of an OCI configuration. cgroupfs driver: the path itself. systemd
 * driver: `kubepods-burstable-podUID.slice:cri-containerd:ID` stands for nested slices and `cri-containerd-ID.scope`
 * (systemd.slice(5)). Null for what is neither. It is a hint: whoever uses it looks whether it is there.
 */
export function cgroupOf(cgroupsPath: string | null): string | null {
  if (cgroupsPath === null || cgroupsPath.length > 4096) return null;
  const parts = cgroupsPath.split(":");
  const [slice, prefix, name] = parts;
  if (parts.length === 3 && slice?.endsWith(".slice") && prefix !== undefined && name !== undefined) {
    const scope = name.endsWith(".slice") ? name : `${prefix === "" ? "" : `${prefix}-`}${name}.scope`;
    return clean(`${expandSlice(slice)}/${scope}`);
  }
  return clean(cgroupsPath);
}

/** The parent of a cgroup path; null at the root. */
export function parentCgroup(path: string | null): string | null {
  const cut = path?.lastIndexOf("/") ?? -1;
  return path === null || cut <= 0 ? null : path.slice(0, cut);
}

/** `a-b-c.slice` → `/a.slice/a-b.slice/a-b-c.slice`. */
function expandSlice(slice: string): string {
  const names = slice.slice(0, -".slice".length).split("-");
  return names.map((_, index) => `/${names.slice(0, index + 1).join("-")}.slice`).join("");
}

function clean(path: string): string | null {
  const parts = path.split("/").filter((part) => part !== "");
  return parts.length === 0 || parts.includes("..") || parts.includes(".") ? null : `/${parts.join("/")}`;
}
