import { readText } from "@trawler/http-client";
import { TrawlerError } from "@trawler/plugin-api";
import type { Config } from "./config.ts";

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Throws TRAWLER_UNAVAILABLE where the file cannot be read or has no such profile. */
export async function credentialsOf(settings: Config): Promise<Credentials> {
  const { accessKeyId, secretAccessKey, sessionToken, credentialsFile, profile } = settings;
  if (accessKeyId !== undefined && secretAccessKey !== undefined) {
    return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
  }
  const path = credentialsFile ?? "";
  const found = parseCredentials(await readText(path), profile);
  if (found === null) throw new TrawlerError("TRAWLER_UNAVAILABLE", `${path} has no keys for the profile ${profile}`);
  return found;
}

/** One section of a file of shared credentials; null where it lacks a key. The last of several values counts. */
export function parseCredentials(text: string, profile: string): Credentials | null {
  const values = new Map<string, string>();
  let section = "";
  for (const line of text.split(/\r?\n/)) {
    const header = /^\s*\[\s*(.*?)\s*\]/.exec(line);
    if (header) section = header[1] ?? "";
    const [, name, value] = /^\s*([a-z_]+)\s*=\s*(\S+)\s*$/i.exec(line) ?? [];
    if (section === profile && name !== undefined && value !== undefined) values.set(name.toLowerCase(), value);
  }
  const accessKeyId = values.get("aws_access_key_id");
  const secretAccessKey = values.get("aws_secret_access_key");
  const sessionToken = values.get("aws_session_token");
  if (accessKeyId === undefined || secretAccessKey === undefined) return null;
  return { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) };
}
