import type { Document } from "./document.ts";
import type { Path } from "./path.ts";
import { pathText } from "./path.ts";
import { isMap, type Value } from "./value.ts";

/** What substitution may reach: given in, so that a test needs neither an environment nor files. */
export interface Sources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The text of a file (secret); throws an error with a `code` of Node. Bounded by `maxBytes`. */
  readFile(path: string, maxBytes: number): string;
}

/** Largest secret file, bytes. */
const MAX_SECRET_BYTES: number = 64 * 1024;
const EXPRESSION = /\$(\$\{)|\$\{([^}]*)(\}?)/g;

/**
 * Replaces `${env:NAME}`, `${env:NAME:-default}` and `${file:/path}` in all values; `$${` stands for `${`.
 * Returns the paths (as text) of values that were substituted: they may be secrets and are never printed.
 */
export function substitute(document: Document, sources: Sources): Set<string> {
  const substituted = new Set<string>();
  const visit = (value: Value, path: Path): Value => {
    if (Array.isArray(value)) return value.map((item, index) => visit(item, [...path, index]));
    if (isMap(value)) {
      for (const [key, child] of Object.entries(value)) value[key] = visit(child, [...path, key]);
      return value;
    }
    if (typeof value !== "string" || !value.includes("${")) return value;
    substituted.add(pathText(path));
    return value.replace(
      EXPRESSION,
      (all: string, literal: string | undefined, body: string | undefined, end: string) => {
        if (literal !== undefined) return literal;
        const result = evaluate(body ?? "", end !== "", sources);
        if (typeof result === "string") return result;
        document.faults.push({ place: document.places.value(path), path, ...result });
        return all;
      },
    );
  };
  visit(document.root, []);
  return substituted;
}

interface Failure {
  readonly found: string;
  readonly expected: string;
  readonly mend: string;
}

function evaluate(body: string, closed: boolean, sources: Sources): string | Failure {
  const colon = body.indexOf(":");
  const scheme = body.slice(0, Math.max(colon, 0));
  const argument = body.slice(colon + 1);
  if (closed && scheme === "env" && /^[A-Za-z_][A-Za-z0-9_]*(:-.*)?$/s.test(argument)) {
    const [name = "", ...rest] = argument.split(":-");
    const fallback = rest.length > 0 ? rest.join(":-") : undefined;
    const value = Object.hasOwn(sources.env, name) ? sources.env[name] : undefined;
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback !== undefined) return fallback;
    return {
      found: `the environment variable ${name} is not set`,
      expected: "",
      mend: `set it, or give a default: \${env:${name}:-value}`,
    };
  }
  if (closed && scheme === "file" && argument !== "") {
    try {
      return sources.readFile(argument, MAX_SECRET_BYTES).replace(/\r?\n$/, "");
    } catch (error) {
      return { found: `the file ${argument} cannot be read`, expected: "", mend: reason(error) };
    }
  }
  return {
    found: closed ? "an unknown substitution" : "a substitution without its closing brace",
    expected: `\${env:NAME}, \${env:NAME:-default} or \${file:/path}`,
    mend: `write $\${ where a literal \${ is meant`,
  };
}

function reason(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (code === "ENOENT") return "it does not exist: create it or correct the path";
  if (code === "EACCES" || code === "EPERM") return "permission is refused: let this user read it";
  if (code === "EISDIR") return "it is a folder: name the file in it";
  if (code === "EFBIG") return `it is larger than ${MAX_SECRET_BYTES} bytes: is it the right file?`;
  if (code === "EINVAL") return "it is no regular file: name one";
  return code === "" ? "check the path" : `the system says ${code}`;
}
