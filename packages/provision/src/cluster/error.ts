import type { ApiAnswer } from "@trawler/kube";
import { errorMessage } from "@trawler/plugin-api";
import { listOf, recordOf, textOf } from "./read.ts";
import type { ObjectError } from "./types.ts";

const MESSAGE_CAP = 1_000;
const CAUSE_CAP = 20;

/** The Status object of an answer that is no success. */
export function refusal({ status, body }: ApiAnswer): ObjectError {
  const object = recordOf(body);
  const causes = listOf(recordOf(object["details"])["causes"]).slice(0, CAUSE_CAP);
  return {
    code: status,
    reason: textOf(object["reason"]) ?? `HTTP${status}`,
    message: line(textOf(object["message"]) ?? `the server answered ${status}`),
    causes: causes.map((cause) => ({
      field: line(textOf(cause["field"]) ?? ""),
      message: line(textOf(cause["message"]) ?? ""),
    })),
  };
}

/** A request without an answer. */
export function noAnswer(error: unknown): ObjectError {
  return { code: null, reason: "NoAnswer", message: line(errorMessage(error)), causes: [] };
}

/** A failure that we found ourselves. */
export function ownError(reason: string, message: string): ObjectError {
  return { code: null, reason, message, causes: [] };
}

function line(text: string): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").trim();
  return clean.length > MESSAGE_CAP ? `${clean.slice(0, MESSAGE_CAP)}…` : clean;
}

/** Whether the server may have done what we asked for. */
export function isAmbiguous({ code }: ObjectError): boolean {
  return code === null || code >= 500;
}

/** Whether the same request may succeed later: the server is busy, away, or lost a race inside itself. */
export function isRetryable(error: ObjectError): boolean {
  if (isAmbiguous(error) || error.code === 429) return true;
  // Two creations that count against one quota collide in the server; an object that exists is `AlreadyExists`.
  return error.code === 409 && error.reason === "Conflict";
}
