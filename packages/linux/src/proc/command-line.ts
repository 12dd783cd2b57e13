const SECRET_WORDS = [
  "password",
  "passwd",
  "secret",
  "token",
  "apikey",
  "api_key",
  "api-key",
  "credential",
  "private",
  "requirepass",
  "masterauth",
];
const REDACTED = "[redacted]";
const CUT = "…";
/** Bound of all arguments together with a byte between each, bytes of UTF-8. */
const MAX_BYTES = 4096;

/**
 * Arguments of `/proc/PID/cmdline`. A process title that a program wrote over it is one argument. Values whose key names
 * a secret and the user part of addresses stand as `[redacted]`; 4 KiB together, a cut argument ends with `…`.
 */
export function parseCommandLine(text: string): readonly string[] {
  const parts = text.replace(/[\0\s]+$/, "").split("\0");
  return cap(redact(parts.length === 1 && parts[0] === "" ? [] : parts));
}

/** Redaction works word by word, so that one argument that holds a whole command is redacted as well. */
function redact(parts: readonly string[]): string[] {
  let next = false;
  return parts.map((part) =>
    part
      .split(/(\s+)/)
      .map((word) => {
        if (word === "" || /^\s/.test(word)) return word;
        if (next && !word.startsWith("--")) {
          next = false;
          return REDACTED;
        }
        const [text, secretFollows] = redactWord(word);
        next = secretFollows;
        return text;
      })
      .join(""),
  );
}

/** The word without its secret, and whether the word after it is one (`--password x`). */
function redactWord(word: string): [text: string, secretFollows: boolean] {
  const text = word.replace(/:\/\/[^\s/?#]*@/g, `://${REDACTED}@`);
  const lower = text.toLowerCase();
  const found = SECRET_WORDS.map((secret) => lower.indexOf(secret)).filter((index) => index >= 0);
  if (found.length === 0) return [text, false];
  const start = Math.min(...found);
  const separator = text.slice(start).search(/[=:]/);
  if (separator >= 0) return [`${text.slice(0, start + separator + 1)}${REDACTED}`, false];
  const isFlag = /^["']?-/.test(text) || found.some((index) => isBareKey(lower.slice(index)));
  return [text, isFlag && !text.slice(0, start).includes("=")];
}

/** Settings that programs take as two words without dashes: `requirepass x`. */
function isBareKey(word: string): boolean {
  return word === "requirepass" || word === "masterauth";
}

function cap(parts: readonly string[]): readonly string[] {
  const capped: string[] = [];
  let left = MAX_BYTES;
  for (const part of parts) {
    const size = Buffer.byteLength(part) + 1;
    if (size > left) {
      const room = left - Buffer.byteLength(CUT) - 1;
      if (room >= 0) capped.push(`${beginning(part, room)}${CUT}`);
      break;
    }
    capped.push(part);
    left -= size;
  }
  return capped;
}

/** The first bytes of a text, without half a character at their end. */
function beginning(text: string, bytes: number): string {
  return new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
}
