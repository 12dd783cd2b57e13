import { errorMessage, TrawlerError } from "@trawler/plugin-api";

/** What a failed send means for its records. */
export type SendFailure =
  /** The broker will never take this batch as it is. */
  | { readonly kind: "tooLarge"; readonly message: string }
  /** It may work later. */
  | { readonly kind: "later"; readonly error: TrawlerError };

/** Kafka's codes for a batch or record over the limits of topic or broker (protocol errors 10 and 18). */
const TOO_LARGE = new Set(["MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"]);

/** Sorts a failure of the client; the message says what to do and never holds a secret. */
export function classifyFailure(error: unknown, topic: string, brokers: readonly string[]): SendFailure {
  const root = rootCause(error);
  const type = property(root, "type");
  if (TOO_LARGE.has(type)) return { kind: "tooLarge", message: `the broker's limit of message size (${type})` };
  const name = property(root, "name");
  const where = `Kafka at ${brokers.join(", ")}`;
  const later = (message: string): SendFailure => ({
    kind: "later",
    error: new TrawlerError("TRAWLER_UNAVAILABLE", message, { cause: error }),
  });
  if (type === "UNKNOWN_TOPIC_OR_PARTITION") {
    return later(`topic ${topic} does not exist on ${where}: create it, or set createTopic: true`);
  }
  if (name === "KafkaJSSASLAuthenticationError" || type === "SASL_AUTHENTICATION_FAILED") {
    return later(`${where} refused the credentials (SASL): check mechanism, username and password`);
  }
  if (type === "TOPIC_AUTHORIZATION_FAILED" || type === "CLUSTER_AUTHORIZATION_FAILED") {
    return later(`${where} does not allow this user to write to ${topic} (${type}): grant Write and IdempotentWrite`);
  }
  return later(`${where}: ${errorMessage(root)}`);
}

/** kafkajs wraps what went wrong in errors of its retrier; the innermost one says it. */
function rootCause(error: unknown): unknown {
  let current = error;
  for (let depth = 0; depth < 8; depth++) {
    if (!(current instanceof Error) || !(current.cause instanceof Error)) return current;
    current = current.cause;
  }
  return current;
}

function property(value: unknown, key: "type" | "name"): string {
  if (typeof value !== "object" || value === null) return "";
  const found: unknown = Reflect.get(value, key);
  return typeof found === "string" ? found : "";
}
