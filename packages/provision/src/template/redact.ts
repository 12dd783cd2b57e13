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
  // Longest first: a secret may hold another one.
  const all = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return (text) => all.reduce((result, form) => (result.includes(form) ? result.replaceAll(form, MASK) : result), text);
}
