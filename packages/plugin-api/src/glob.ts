/** Whether `text` matches `pattern` with `*` (any run) and `?` (one character). Time is at most |text| × |pattern|. */
export function glob(pattern: string, text: string): boolean {
  let p = 0;
  let t = 0;
  let star = -1;
  let mark = 0;
  while (t < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      mark = t;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[t])) {
      p++;
      t++;
    } else if (star >= 0) {
      p = star + 1;
      t = ++mark;
    } else return false;
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

/**
 * Tells whether a whole path matches one of the patterns: `*` and `?` stay within a name, `**` as a name of its own stands
 * for any number of names, none included. Time is at most |path| × |pattern| for each pattern that is no plain path.
 */
export function pathMatcher(patterns: readonly string[]): (path: string) => boolean {
  const plain = new Set(patterns.filter((pattern) => !/[*?]/.test(pattern)));
  const globs = patterns.filter((pattern) => !plain.has(pattern)).map((pattern) => pattern.split("/"));
  return (path) => {
    if (plain.has(path)) return true;
    if (globs.length === 0) return false;
    const names = path.split("/");
    return globs.some((wanted) => matchesNames(wanted, names));
  };
}

function matchesNames(wanted: readonly string[], names: readonly string[]): boolean {
  let w = 0;
  let n = 0;
  let star = -1;
  let mark = 0;
  while (n < names.length) {
    if (wanted[w] === "**") {
      star = w++;
      mark = n;
    } else if (w < wanted.length && glob(wanted[w] ?? "", names[n] ?? "")) {
      w++;
      n++;
    } else if (star >= 0) {
      w = star + 1;
      n = ++mark;
    } else return false;
  }
  while (wanted[w] === "**") w++;
  return w === wanted.length;
}
