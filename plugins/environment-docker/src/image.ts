import { list, record, text } from "./value.ts";

/** The parts of an image's reference; `name` null where only an id is known. */
export interface ImageName {
  readonly name: string | null;
  readonly tag: string | null;
  readonly digest: string | null;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;

export function parseImage(image: string): ImageName {
  if (image === "" || DIGEST.test(image) || /^[0-9a-f]{64}$/.test(image))
    return { name: null, tag: null, digest: null };
  const at = image.indexOf("@");
  const digest = at === -1 ? null : image.slice(at + 1);
  const rest = at === -1 ? image : image.slice(0, at);
  const colon = rest.lastIndexOf(":");
  // A colon before a slash belongs to the registry's port.
  const tagged = colon > rest.lastIndexOf("/");
  return {
    name: text(tagged ? rest.slice(0, colon) : rest),
    tag: tagged ? text(rest.slice(colon + 1)) : null,
    digest: digest !== null && DIGEST.test(digest) ? digest : null,
  };
}

/** The manifest's digest in the answer of `GET /images/{id}/json`: that of the same repository, else the first. */
export function repositoryDigest(answer: unknown, image: string): string | null {
  const digests = list(record(answer)["RepoDigests"]).flatMap((one) => text(one) ?? []);
  const { name } = parseImage(image);
  const own = digests.find((one) => name !== null && one.startsWith(`${name}@`)) ?? digests[0];
  return own === undefined ? null : parseImage(own).digest;
}
