import { errorMessage, type ImageInspection, type Logger } from "@trawler/plugin-api";
import type { CriClient } from "./client.ts";
import { readImage } from "./image.ts";
import type { Redact } from "./verbose.ts";

const MAX_IMAGES = 256;
/** Milliseconds. */
const TIMEOUT = 2_000;

/**
 * What the runtime says of its images: each is asked for once, however many containers run it, and again at a container's
 * next state where there was no answer. Never a reason to go without the container.
 */
export class Images {
  readonly #log: Logger;
  readonly #redact: Redact;
  readonly #known: Map<string, Promise<ImageInspection | null>> = new Map();

  constructor(log: Logger, redact: Redact) {
    this.#log = log;
    this.#redact = redact;
  }

  get(client: CriClient, reference: string, signal: AbortSignal): Promise<ImageInspection | null> {
    const known = this.#known.get(reference);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_IMAGES) this.#known.clear();
    const asking = this.#ask(client, reference, signal);
    this.#known.set(reference, asking);
    return asking;
  }

  async #ask(client: CriClient, reference: string, signal: AbortSignal): Promise<ImageInspection | null> {
    try {
      const answer = await client.imageStatus(reference, { signal, timeout: TIMEOUT, verbose: true });
      const image = readImage(answer, this.#redact);
      if (image !== null) return image;
    } catch (error) {
      this.#log.debug({ image: reference, reason: errorMessage(error) }, "an image's status could not be read");
    }
    this.#known.delete(reference);
    return null;
  }
}
