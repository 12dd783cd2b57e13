import { glob, type Match, parseImage } from "@trawler/plugin-api";

/** An image's repository without registry, tag and digest: `registry.test:5000/library/redis:7@sha256:…` → `library/redis`. */
export function repositoryOf(image: string): string {
  const untagged = parseImage(image).name ?? "";
  const first = untagged.split("/", 1)[0] ?? "";
  const isRegistry = first !== untagged && (/[.:]/.test(first) || first === "localhost");
  return isRegistry ? untagged.slice(first.length + 1) : untagged;
}

export function matchesImage({ image = [] }: Match, reference: string): boolean {
  if (image.length === 0) return false;
  const repository = repositoryOf(reference);
  const last = repository.slice(repository.lastIndexOf("/") + 1);
  return image.some((pattern) => glob(pattern, repository) || glob(pattern, last));
}

export function matchesProcess({ process = [] }: Match, commands: readonly string[]): boolean {
  return process.some((pattern) => commands.some((command) => glob(pattern, command)));
}
