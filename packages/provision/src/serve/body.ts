import { type JsonValue, parseJson } from "../json.ts";
import { Refusal } from "./refusal.ts";

/** Values of a request: a template is one text, its answers are a few. */
const MOST_VALUES = 50_000;

/** Reads the body of a request. Throws a Refusal where it is no JSON, or where it would hold up the others. */
export function readBody(text: string): JsonValue {
  if (valuesIn(text) > MOST_VALUES) {
    const message = `the body has more than ${MOST_VALUES} values; send a template as one text`;
    throw new Refusal(413, { code: "TRAWLER_LIMIT", message });
  }
  try {
    return parseJson(text);
  } catch {
    throw new Refusal(400, { code: "TRAWLER_CONFIG_INVALID", message: "the body is not JSON" });
  }
}

/** At least as many as the text has, in one pass: what is outside of its strings, and separates. */
function valuesIn(text: string): number {
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA || code === BRACKET || code === BRACE) count++;
  }
  return count;
}

const [QUOTE, COMMA, BRACKET, BRACE, BACKSLASH] = [34, 44, 91, 123, 92];

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
