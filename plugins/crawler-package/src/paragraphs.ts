/**
 * Paragraphs of `Name: value` lines, parted by empty lines: the form of dpkg's and of apk's database. Only the wanted
 * fields are kept, the first of each name; what continues a line is left out.
 */
export function* paragraphs(text: string, wanted: ReadonlySet<string>): Generator<ReadonlyMap<string, string>> {
  let fields = new Map<string, string>();
  let start = 0;
  while (start < text.length) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    const last = end > start && text[end - 1] === "\r" ? end - 1 : end;
    if (last === start) {
      if (fields.size > 0) yield fields;
      fields = new Map();
    } else {
      // Within the line: in a text without colons each line would else cost the whole rest.
      const colon = text.slice(start, Math.min(last, start + MAX_NAME)).indexOf(":");
      const name = text.slice(start, start + colon);
      if (colon > 0 && wanted.has(name) && !fields.has(name))
        fields.set(name, text.slice(start + colon + 1, last).trim());
    }
    start = end + 1;
  }
  if (fields.size > 0) yield fields;
}

/** Longer than any field's name. */
const MAX_NAME = 64;
