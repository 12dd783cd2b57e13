import { type Answer, judge } from "@trawler/http-client";

/** Codes of 400 that are about the credentials, the clock or the connection, and pass once that is mended. */
const MENDED: ReadonlySet<string> = new Set(["ExpiredToken", "InvalidToken", "RequestTimeout", "RequestTimeTooSkewed"]);

/**
 * Whether an answer keeps the batch for later, and what it says. Of the text only the code and its message are told: the
 * rest of it repeats what was signed.
 */
export function explain({ status, text }: Answer): {
  readonly kind: "safe" | "later" | "never";
  readonly message: string;
} {
  const { kind } = judge(status, null, 0);
  if (kind === "safe") return { kind, message: "" };
  const code = element(text, "Code");
  const parts = [String(status), code, element(text, "Message")].filter((part) => part !== null);
  if (code === "RequestTimeTooSkewed") {
    const time = element(text, "ServerTime");
    parts.push(`this node's clock and the store's${time === null ? "" : ` (${time})`} differ too much`);
  }
  return { kind: kind === "later" || MENDED.has(code ?? "") ? "later" : "never", message: parts.join(": ") };
}

/** The text of an element of S3's error document; null for none. */
function element(xml: string, name: string): string | null {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  return start < 0 || end < 0 ? null : xml.slice(start + name.length + 2, end).slice(0, 200);
}
