import { parseCommandLine } from "@trawler/linux";
import { type ImageInspection, type ImageStep, parseImage } from "@trawler/plugin-api";
import { list, number, record, stringMap, text, time } from "./value.ts";

const MAX_STEPS = 100;
const MAX_TEXT = 1024;

/** The manifest's digest in the answer of `GET /images/{id}/json`: that of the same repository, else the first. */
export function repositoryDigest(answer: unknown, image: string): string | null {
  const digests = list(record(answer)["RepoDigests"]).flatMap((one) => text(one) ?? []);
  const { name } = parseImage(image);
  const own = digests.find((one) => one.startsWith(`${name}@`)) ?? digests[0];
  return own === undefined ? null : own.slice(own.indexOf("@") + 1);
}

/** Reads the answers of `GET /images/{id}/json` and `GET /images/{id}/history`; null for the second where there is none. */
export function readImage(answer: unknown, history: unknown): ImageInspection {
  const { Id, RepoTags, Created, Architecture, Os, Size, Config, RootFS } = record(answer);
  const layers = list(record(RootFS)["Layers"]).flatMap((layer) => text(layer) ?? []);
  const steps = history === null ? null : readSteps(list(history), layers);
  const kept = steps?.slice(-MAX_STEPS) ?? null;
  return {
    source: "docker",
    id: text(Id),
    tags: list(RepoTags)
      .flatMap((tag) => text(tag) ?? [])
      .slice(0, MAX_STEPS),
    createdAt: afterEpoch(time(Created)),
    architecture: text(Architecture),
    os: text(Os),
    size: number(Size),
    labels: stringMap(record(Config)["Labels"]),
    layers: layers.slice(0, MAX_STEPS),
    steps: kept?.map(({ step }) => step) ?? null,
    truncated: layers.length > MAX_STEPS || (steps?.length ?? 0) > MAX_STEPS || kept?.some(({ cut }) => cut) === true,
  };
}

/**
 * The newest step comes first. Docker does not say which step made which layer: where as many steps have a size as there
 * are layers, they are taken in order.
 */
function readSteps(
  history: readonly unknown[],
  layers: readonly string[],
): readonly { step: ImageStep; cut: boolean }[] {
  const all = history.toReversed().map(record);
  const sizes = all.map((step) => number(step["Size"]));
  const told = sizes.filter((size) => size !== null && size > 0).length === layers.length;
  let next = 0;
  return all.map((one, index) => {
    const size = sizes[index] ?? null;
    const made = told && size !== null && size > 0;
    const command = text(one["CreatedBy"]);
    const comment = text(one["Comment"]);
    return {
      step: {
        createdAt: typeof one["Created"] === "number" ? ofSeconds(one["Created"]) : afterEpoch(time(one["Created"])),
        command: clip(command, redacted),
        comment: clip(comment),
        size,
        empty: told ? !made : null,
        layer: made ? (layers[next++] ?? null) : null,
      },
      cut: (command?.length ?? 0) > MAX_TEXT || (comment?.length ?? 0) > MAX_TEXT,
    };
  });
}

/** As the command line of a process is. */
function redacted(command: string): string {
  return parseCommandLine(command).join(" ");
}

function clip(value: string | null, map: (text: string) => string = (text) => text): string | null {
  if (value === null) return null;
  // A copy: a part of a text keeps the whole of it in memory.
  return map(value.length > MAX_TEXT ? Buffer.from(value.slice(0, MAX_TEXT)).toString() : value);
}

function ofSeconds(value: number): string | null {
  return value > 0 && value < 253_402_300_800 ? new Date(value * 1000).toISOString() : null;
}

/** Images that are the same whenever they are built have a time that is none. */
function afterEpoch(value: string | null): string | null {
  return value !== null && Date.parse(value) > 0 ? value : null;
}
