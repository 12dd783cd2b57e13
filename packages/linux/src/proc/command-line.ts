import { secretFlags } from "./short-flags.ts";

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
  "passphrase",
  "storepass",
  "keypass",
  "requirepass",
  "masterauth",
];
/** A header's name; `--authorization-mode` and the like are none. */
const AUTHORIZATION = /(?:^|["'=]|-H)(?:proxy-)?authorization["']?[:=]/i;
const SCHEME = /^["']?(?:bearer|basic|digest|negotiate|token|apikey)$/i;
const REDACTED = "[redacted]";
const CUT = "…";
/** Bound of all arguments together with a byte between each, bytes of UTF-8. */
const MAX_BYTES = 4096;
/** A frame holds no longer list; only empty arguments get there. */
const MAX_ARGUMENTS = 1000;

/**
 * Arguments of `/proc/PID/cmdline`. A process title that a program wrote over it is one argument. Values whose key names
 * a secret and the user part of addresses stand as `[redacted]`; 4 KiB together, a cut argument ends with `…`.
 */
export function parseCommandLine(text: string): readonly string[] {
  const parts = withoutEnd(text).split("\0");
  return cap(redact(parts.length === 1 && parts[0] === "" ? [] : parts));
}

/** Without blanks and NULs at the end. By hand: a pattern would try each run of NULs from each of its places. */
function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && /[\0\s]/.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** What the word after this one is: a secret, or the scheme before one (`Bearer`). */
type Follows = "secret" | "credentials" | null;

/**
 * Redaction works word by word, so that one argument that holds a whole command is redacted as well. Where a program is
 * seen that takes a secret by a short flag (`mysql -p…`), its flags count until the next such program.
 */
function redact(parts: readonly string[]): string[] {
  let next: Follows = null;
  let program = secretFlags("");
  return parts.map((part) => {
    // A value that is an argument of its own, blanks and all.
    if (next === "secret" && !part.startsWith("-")) {
      next = null;
      return REDACTED;
    }
    const words = part.split(/(\s+)/);
    const redacted = words.map((word) => {
      if (word === "" || /^\s/.test(word)) return word;
      if (next === "credentials" && SCHEME.test(word)) {
        next = "secret";
        return word;
      }
      if (next !== null && !word.startsWith("--")) {
        next = null;
        return REDACTED;
      }
      program = secretFlags(word) ?? program;
      const attached = program?.attached.exec(word);
      if (attached) return `${attached[0]}${REDACTED}`;
      if (program?.before?.test(word) === true) {
        next = "secret";
        return word;
      }
      const [text, follows] = redactWord(word);
      next = follows;
      return text;
    });
    // One flag with a value of several words: all of them are the secret.
    const [first = ""] = redacted;
    return part.startsWith("-") && words.length > 1 && first.endsWith(REDACTED) ? first : redacted.join("");
  });
}

/** The word without its secret, and what the word after it is (`--password x`, `password: x`). */
function redactWord(word: string): [text: string, follows: Follows] {
  const text = word.replace(/:\/\/[^\s/?#]*@/g, `://${REDACTED}@`);
  const header = AUTHORIZATION.exec(text);
  if (header !== null) {
    const end = header.index + header[0].length;
    const value = text.slice(end);
    if (value === "") return [text, "credentials"];
    return SCHEME.test(value) ? [text, "secret"] : [`${text.slice(0, end)}${REDACTED}`, null];
  }
  if (/^["']?bearer$/i.test(text)) return [text, "secret"];
  const lower = text.toLowerCase();
  const found = SECRET_WORDS.map((secret) => lower.indexOf(secret)).filter((index) => index >= 0);
  if (found.length === 0) return [text, null];
  const start = Math.min(...found);
  const separator = text.slice(start).search(/[=:]/);
  if (separator >= 0) {
    const end = start + separator + 1;
    // `password: x`, as in a header or in JSON with blanks.
    if (text[end - 1] === ":" && end === text.length) return [text, "secret"];
    return [`${text.slice(0, end)}${REDACTED}`, null];
  }
  const isFlag = /^["']?-/.test(text) || found.some((index) => isBareKey(lower.slice(index)));
  return [text, isFlag && !text.slice(0, start).includes("=") ? "secret" : null];
}

/** Settings that programs take as two words without dashes: `requirepass x`. */
function isBareKey(word: string): boolean {
  return word === "requirepass" || word === "masterauth";
}

function cap(parts: readonly string[]): readonly string[] {
  const capped: string[] = [];
  let left = MAX_BYTES;
  for (const part of parts) {
    if (capped.length === MAX_ARGUMENTS - 1 && parts.length > MAX_ARGUMENTS) {
      capped.push(CUT);
      break;
    }
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
