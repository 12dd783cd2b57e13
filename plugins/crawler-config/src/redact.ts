const REDACTED = "[redacted]";

/** Names whose values are secrets, also of servers that have words of their own for them. */
const SECRET =
  /passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|credential|private|requirepass|masterauth|auth[_-]?pass/i;
/** What such a name has where it is a switch, a number of tries, or the name of a service (`passwd: files systemd`). */
const HARMLESS =
  /^(?:yes|no|on|off|true|false|none|null|required|optional|default|prompt|\d{1,2}|files|compat|systemd|sss|ldap|nis|winbind)$/i;
/** `name = value`, `name: value`, `name value`, `export NAME=value`, `"name": "value",`; a comment may hold one, too. */
const LINE =
  /^([ \t]*)([#;]+[ \t]*)?((?:(?:export|set|setenv|env)[ \t]+)?["']?)([\w.-]{1,128})(["']?[ \t]*[=:][ \t]*|[ \t]+)(\S[\s\S]*)$/;
/** `name=value`, `"name": "value"` anywhere in a line: options, attributes, JSON, connection strings. */
const INLINE =
  /(["']?)([\w.-]{1,128})(\1[ \t]{0,8}[=:][ \t]{0,8})("(?:[^"\\\n\r]|\\.){0,4096}"|'[^'\n\r]{0,4096}'|[^\s"'&;,<>(){}[\]]{1,4096})/g;
/** `<property name="db.password" value="…"/>`. */
const PROPERTY =
  /(\b(?:name|key)\s{0,8}=\s{0,8}["']([\w.-]{1,256})["'][^<>]{0,256}?\bvalue\s{0,8}=\s{0,8})("[^"]{0,4096}"|'[^']{0,4096}')/g;
/** `<password>value</password>`, with attributes or without. */
const ELEMENT = /<([\w:.-]{1,128})((?:\s[^<>]{0,512})?)>([^<>]{1,4096})<\/\1>/g;
/** A key in PEM armour, cut off or not. */
const ARMOUR = /(-----BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY-----)[^-]{0,65536}(-----END [A-Z0-9 ]{0,64}PRIVATE KEY-----)?/g;
/** Digests of passwords, as crypt(5), Apache and LDAP write them. */
const CRYPT =
  /\$(?:1|2[abxy]?|5|6|7|y|gy|sha1|apr1)\$[./A-Za-z0-9$=,]{8,512}|\{(?:SSHA?|SHA|MD5|CRYPT)\}[A-Za-z0-9+/=$.]{8,512}/g;
const AUTHORIZATION =
  /(\b(?:Proxy-)?Authorization["']?[ \t]{0,4}[:=]?[ \t]{0,4}["']?(?:Basic|Bearer|Digest)[ \t]{1,4})[^\s"']{1,4096}/gi;
const USER_INFO = /([a-z][a-z0-9+.-]{0,31}:\/\/)[^\s/@:]{0,256}:[^\s/@]{1,256}@/gi;

/**
 * The text of a configuration file without what is secret by its name or its form. Rather too much than too little: of a
 * line whose name says secret all that follows goes, unless it is a mere switch. Each pattern is bounded.
 */
export function redactConfig(text: string): string {
  const whole = text
    .replace(ARMOUR, (_, begin: string, end: string | undefined) =>
      end === undefined ? `${begin}\n${REDACTED}` : `${begin}\n${REDACTED}\n${end}`,
    )
    .replace(ELEMENT, (found, name: string, attributes: string) =>
      SECRET.test(name) ? `<${name}${attributes}>${REDACTED}</${name}>` : found,
    )
    .replace(PROPERTY, (found, before: string, name: string) => (SECRET.test(name) ? `${before}"${REDACTED}"` : found))
    .replace(CRYPT, REDACTED)
    .replace(AUTHORIZATION, `$1${REDACTED}`)
    .replace(USER_INFO, `$1${REDACTED}@`);
  return redactLines(whole);
}

/** Of a YAML block (`password: |`) all lines go that are further in. */
function redactLines(text: string): string {
  let block: number | null = null;
  const parts = text.split(/(\r\n|\n|\r)/);
  return parts
    .map((line, index) => {
      if (index % 2 === 1 || line.trim() === "") return line;
      const indent = line.length - line.trimStart().length;
      if (block !== null && indent > block) return `${line.slice(0, indent)}${REDACTED}`;
      block = null;
      const [, blank, comment = "", lead, name = "", separator = "", value = ""] = LINE.exec(line) ?? [];
      if (!isSecret(name, value) || (comment !== "" && isProse(separator, value))) return redactInline(line);
      if (/^[|>][-+0-9]{0,2}$/.test(value.trim())) block = indent;
      return `${blank}${comment}${lead}${name}${separator}${REDACTED}`;
    })
    .join("");
}

function redactInline(line: string): string {
  return line.replace(INLINE, (found, quote: string, name: string, between: string, value: string) => {
    const bare = /^["']/.test(value) ? value.slice(1, -1) : value;
    return isSecret(name, bare) && bare !== REDACTED ? `${quote}${name}${between}"${REDACTED}"` : found;
  });
}

function isSecret(name: string, value: string): boolean {
  if (!SECRET.test(name)) return false;
  const words = value
    .trim()
    .split(/[\s;,]+/, 9)
    .filter((word) => word !== "");
  return !words.every((word) => HARMLESS.test(word));
}

/** `# Passwords are kept elsewhere` says nothing; `# requirepass foobared` does. */
function isProse(separator: string, value: string): boolean {
  return separator.trim() === "" && /\s/.test(value.trim());
}
