import { parseImage } from "@trawler/plugin-api";
import { list, record, text } from "./value.ts";

/** The manifest's digest in the answer of `GET /images/{id}/json`: that of the same repository, else the first. */
export function repositoryDigest(answer: unknown, image: string): string | null {
  const digests = list(record(answer)["RepoDigests"]).flatMap((one) => text(one) ?? []);
  const { name } = parseImage(image);
  const own = digests.find((one) => name !== null && one.startsWith(`${name}@`)) ?? digests[0];
  return own === undefined ? null : parseImage(own).digest;
}
