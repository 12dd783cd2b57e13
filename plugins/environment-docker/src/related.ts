import { errorMessage, type ImageInspection, type Logger } from "@trawler/plugin-api";
import type { DockerClient } from "./client.ts";
import type { Facts } from "./facts.ts";
import { readImage, repositoryDigest } from "./image.ts";
import { type Bridge, readBridge } from "./network.ts";

const MAX_IMAGES = 256;
const MAX_NETWORKS = 1_000;

interface Options {
  readonly client: DockerClient;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/**
 * What the engine says of a container's image and networks: each is asked for once, however many containers have it, and
 * again at a container's next change where there was no answer. Never a reason to go without the container.
 */
export class Related {
  readonly #options: Options;
  readonly #images: Map<string, Promise<ImageAnswer | null>> = new Map();
  readonly #bridges: Map<string, Promise<{ readonly bridge: Bridge | null } | null>> = new Map();

  constructor(options: Options) {
    this.#options = options;
  }

  /** The same facts with what is known of their image and networks. */
  async complete(facts: Facts): Promise<Facts> {
    const { imageId, networkIds, inspection } = facts;
    const [image, ...networks] = await Promise.all([
      imageId === null ? null : this.#image(imageId),
      ...networkIds.map((id) => this.#bridge(id)),
    ]);
    const answers = networks.flatMap((one) => one ?? []);
    const bridges = answers.flatMap(({ bridge }) => bridge ?? []);
    const known = inspection !== null && answers.length === networkIds.length;
    return {
      ...facts,
      digest: facts.digest ?? repositoryDigest(image?.answer, facts.image),
      imageInspection: image?.inspection ?? null,
      inspection: known
        ? {
            ...inspection,
            bridges: [...new Set(bridges.map(({ name }) => name))].sort(),
            usesDefaultBridge: bridges.some((bridge) => bridge.default),
          }
        : inspection,
    };
  }

  #image(id: string): Promise<ImageAnswer | null> {
    const { client, signal } = this.#options;
    return this.#once(this.#images, id, MAX_IMAGES, "an image", async () => {
      // Without its steps an image still has its digest.
      const steps = client.history(id, signal).catch(() => null);
      const answer = await client.image(id, signal);
      return answer === null
        ? null
        : { answer: { RepoDigests: Object(answer)["RepoDigests"] }, inspection: readImage(answer, await steps) };
    });
  }

  /** A bridge is chosen when its network is made. */
  #bridge(id: string): Promise<{ readonly bridge: Bridge | null } | null> {
    const { client, signal } = this.#options;
    return this.#once(this.#bridges, id, MAX_NETWORKS, "a network", async () => {
      const answer = await client.network(id, signal);
      return answer === null ? null : { bridge: readBridge(answer) };
    });
  }

  #once<T>(
    kept: Map<string, Promise<T | null>>,
    id: string,
    max: number,
    what: string,
    ask: () => Promise<T | null>,
  ): Promise<T | null> {
    const known = kept.get(id);
    if (known !== undefined) return known;
    if (kept.size >= max) kept.clear();
    const asking = ask()
      .catch((error: unknown) => {
        this.#options.log.debug({ id }, `${what} could not be inspected: ${errorMessage(error)}`);
        return null;
      })
      .then((answer) => {
        if (answer === null) kept.delete(id);
        return answer;
      });
    kept.set(id, asking);
    return asking;
  }
}

interface ImageAnswer {
  /** The digests of its repositories, of which the container's name chooses one. */
  readonly answer: unknown;
  readonly inspection: ImageInspection;
}
