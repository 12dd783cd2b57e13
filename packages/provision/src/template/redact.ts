/** What stands in place of a secret. */
export const MASK = "••••••";
/** Shorter ones would black out ordinary text, and are hidden by nobody. */
const SHORTEST = 3;

/** A function that hides the given values in any text: as they are, escaped as in JSON or a URL, and in base64. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const forms = secrets
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => [
      secret,
      JSON.stringify(secret).slice(1, -1),
      JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
      encodeURIComponent(secret.toWellFormed()),
      Buffer.from(secret).toString("base64"),
    ]);
  // By their beginning: a text is looked through once, however many there are.
  const byBeginning = Map.groupBy(new Set(forms), (form) => form.slice(0, SHORTEST));
  if (byBeginning.size === 0) return (text) => text;
  return (text) => {
    const covered: { readonly start: number; end: number }[] = [];
    for (let at = 0; at <= text.length - SHORTEST; at++) {
      const candidates = byBeginning.get(text.slice(at, at + SHORTEST)) ?? [];
      const end = candidates.reduce(
        (most, form) => (text.startsWith(form, at) ? Math.max(most, at + form.length) : most),
        0,
      );
      const last = covered.at(-1);
      // One may hold another, or run into it: what is covered by any of them goes.
      if (last !== undefined && at < last.end) last.end = Math.max(last.end, end);
      else if (end > 0) covered.push({ start: at, end });
    }
    let shown = 0;
    const parts = covered.map(({ start, end }) => {
      const before = text.slice(shown, start);
      shown = end;
      return before + MASK;
    });
    return parts.join("") + text.slice(shown);
  };
}
