import type { Config } from "./config.ts";
import type { Facts } from "./facts.ts";

type Rules = Config["include"];
type Selected = Pick<Facts, "name" | "image" | "labels">;

/** Whether the settings want this container. */
export function isWanted({ include, exclude }: Pick<Config, "include" | "exclude">, facts: Selected): boolean {
  return isIncluded(include, facts) && !isExcluded(exclude, facts);
}

function isIncluded({ names, images, labels }: Rules, facts: Selected): boolean {
  return (
    (names.length === 0 || names.some((name) => matches(name, facts.name))) &&
    (images.length === 0 || images.some((image) => matches(image, facts.image))) &&
    Object.entries(labels).every((label) => hasLabel(facts, label))
  );
}

function isExcluded({ names, images, labels }: Rules, facts: Selected): boolean {
  return (
    names.some((name) => matches(name, facts.name)) ||
    images.some((image) => matches(image, facts.image)) ||
    Object.entries(labels).some((label) => hasLabel(facts, label))
  );
}

function hasLabel({ labels }: Selected, [key, glob]: readonly [string, string]): boolean {
  const value = labels[key];
  return value !== undefined && matches(glob, value);
}

/** Glob with `*` and `?`, in time proportional to both lengths at worst: the text is foreign. */
export function matches(glob: string, text: string): boolean {
  let at = 0;
  let index = 0;
  let star = -1;
  let mark = 0;
  while (index < text.length) {
    if (at < glob.length && glob[at] === "*") {
      star = at++;
      mark = index;
    } else if (at < glob.length && (glob[at] === "?" || glob[at] === text[index])) {
      at++;
      index++;
    } else if (star !== -1) {
      at = star + 1;
      index = ++mark;
    } else return false;
  }
  while (glob[at] === "*") at++;
  return at === glob.length;
}
