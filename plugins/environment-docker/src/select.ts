import { glob } from "@trawler/plugin-api";
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
    (names.length === 0 || names.some((name) => glob(name, facts.name))) &&
    (images.length === 0 || images.some((image) => glob(image, facts.image))) &&
    Object.entries(labels).every((label) => hasLabel(facts, label))
  );
}

function isExcluded({ names, images, labels }: Rules, facts: Selected): boolean {
  return (
    names.some((name) => glob(name, facts.name)) ||
    images.some((image) => glob(image, facts.image)) ||
    Object.entries(labels).some((label) => hasLabel(facts, label))
  );
}

function hasLabel({ labels }: Selected, [key, pattern]: readonly [string, string]): boolean {
  const value = labels[key];
  return value !== undefined && glob(pattern, value);
}
