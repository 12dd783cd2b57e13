/** What stands in place of a secret. */
export const REDACTED = "[redacted]";

const SECRET_NAME = /passw(?:or)?d|secret|token|api[_-]?key|credential|private/i;
// Both patterns are linear: each repeat is of one class that its end does not belong to.
const ARGUMENT =
  /((?:^|[\s;,&?"'{[])(?:--?)?([\w.-]{1,64})(?:=|["']\s{0,4}:\s{0,4}|:\s{1,4}))(\[redacted\](?=[\s,;&"'}\]]|$)|"[^"]*"|'[^']*'|[^\s,;&"'}\]]+)/g;
const USER_INFO = /([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/@:]{0,256}(?::[^\s/@]{0,256})?@/gi;
const QUICK = /:\/\/|passw|secret|token|key|credential|private/i;

/** Whether a key's name says that its value is a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** `text` without user info in URLs and without values of `password=…`, `--token=…` and the like. */
export function redactText(text: string): string {
  if (!QUICK.test(text)) return text;
  return text
    .replace(USER_INFO, `$1${REDACTED}@`)
    .replace(ARGUMENT, (whole, before: string, name: string) => (isSecretName(name) ? `${before}${REDACTED}` : whole));
}

/** As `redactText` for a list of arguments, where `--password` may stand alone before its value. */
export function redactList(list: readonly string[]): readonly string[] {
  let secretNext = false;
  return list.map((item) => {
    const hide = secretNext && !item.startsWith("-");
    secretNext = item.startsWith("-") && !item.includes("=") && isSecretName(item);
    return hide ? REDACTED : redactText(item);
  });
}

/** The value of one named text. */
export function redactNamed(name: string, text: string): string {
  return isSecretName(name) && text !== "" ? REDACTED : redactText(text);
}
