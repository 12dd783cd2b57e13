/** The parts of an image's reference. */
export interface ImageName {
  /** With its registry, without tag and digest; null where only an id is known. */
  readonly name: string | null;
  readonly tag: string | null;
  /** `sha256:…` */
  readonly digest: string | null;
}

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const ID = /^(?:sha256:)?[0-9a-f]{64}$/;

/** Takes an image's reference apart: as the user wrote it, or the id that runtimes give where they know no name. */
export function parseImage(image: string): ImageName {
  if (image === "" || ID.test(image)) return { name: null, tag: null, digest: null };
  const at = image.indexOf("@");
  const digest = at === -1 ? "" : image.slice(at + 1);
  const rest = at === -1 ? image : image.slice(0, at);
  const colon = rest.lastIndexOf(":");
  // A colon before a slash belongs to the registry's port.
  const tagged = colon > rest.lastIndexOf("/");
  return {
    name: (tagged ? rest.slice(0, colon) : rest) || null,
    tag: (tagged && rest.slice(colon + 1)) || null,
    digest: DIGEST.test(digest) ? digest : null,
  };
}
