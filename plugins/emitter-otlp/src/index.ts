import { parseFrame } from "@trawler/format";
import { createSender, judge, type Sender, type SenderSettings, senderSettings } from "@trawler/http-client";
import {
  defineEmitter,
  type Emitter,
  type Envelope,
  type Frame,
  type PluginHost,
  parseDuration,
  TrawlerError,
  type WriteResult,
} from "@trawler/plugin-api";
import * as z from "zod";
import { resourceLogs } from "./logs.ts";
import { resourceMetrics } from "./metrics.ts";

export default defineEmitter({
  name: "otlp",
  description: "Sends figures as metrics and events as logs by OTLP over HTTP.",
  config: z.strictObject({
    ...senderSettings,
    url: senderSettings.url.describe("Base address of the receiver; /v1/metrics and /v1/logs are added."),
    metrics: z.boolean().default(true).describe("Send the figures of each frame."),
    logs: z.boolean().default(true).describe("Send what began, changed or ended, and problems."),
  }),
  create: (settings, host) => {
    const timeout = parseDuration(settings.timeout) ?? 0;
    const signals: Signal[] = [
      { path: "metrics", field: "resourceMetrics", of: resourceMetrics, on: settings.metrics },
      { path: "logs", field: "resourceLogs", of: resourceLogs, on: settings.logs },
    ].filter(({ on }) => on);
    return otlpEmitter(signals, (path) => createSender(at(settings, path), timeout), host);
  },
});

interface Signal {
  readonly path: string;
  readonly field: string;
  readonly of: (frame: Frame) => readonly object[];
}

function otlpEmitter(
  signals: readonly Signal[],
  senderOf: (path: string) => Sender,
  { clock, log }: PluginHost,
): Emitter & AsyncDisposable {
  const senders = new Map(signals.map(({ path }) => [path, senderOf(path)]));
  let notBefore = 0;

  /** Null = taken; else why the receiver will never take it. Throws TRAWLER_RETRY where it may later. */
  async function send(
    { path, field, of }: Signal,
    frames: readonly Frame[],
    signal: AbortSignal,
  ): Promise<string | null> {
    const entries = frames.flatMap(of);
    const sender = senders.get(path);
    if (entries.length === 0 || sender === undefined) return null;
    const body = Buffer.from(JSON.stringify({ [field]: entries }));
    const { status, retryAfter, text } = await sender.post(body, "application/json", signal);
    const verdict = judge(status, retryAfter, clock.now());
    const message = `${path}: the receiver answered ${status}${text === "" ? "" : `: ${text.slice(0, 200)}`}`;
    if (verdict.kind === "later") {
      notBefore = clock.monotonic() + (verdict.pause ?? 0) / 1_000;
      throw new TrawlerError("TRAWLER_RETRY", message);
    }
    // What a receiver took only in part must not be sent again (OTLP, "Partial Success").
    if (verdict.kind === "safe" && text.includes("rejected"))
      log.warn({ path }, `taken in part: ${text.slice(0, 500)}`);
    return verdict.kind === "safe" ? null : message;
  }

  return {
    async write(envelopes: readonly Envelope[], { signal }): Promise<WriteResult | undefined> {
      if (envelopes.length === 0) return undefined;
      const pause = notBefore - clock.monotonic();
      if (pause > 0) throw new TrawlerError("TRAWLER_RETRY", `the receiver wants ${Math.ceil(pause)} s of rest`);
      const frames = envelopes.map(({ bytes }) => parseFrame(bytes));
      for (const one of signals) {
        const message = await send(one, frames, signal);
        if (message !== null) {
          return { rejected: envelopes.map(({ id }) => ({ id, code: "TRAWLER_REFUSED", message })) };
        }
      }
      return undefined;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(Array.from(senders.values(), (sender) => sender[Symbol.asyncDispose]()));
    },
  };
}

function at(settings: SenderSettings, path: string): SenderSettings {
  return { ...settings, url: `${settings.url.replace(/\/+$/, "")}/v1/${path}` };
}
