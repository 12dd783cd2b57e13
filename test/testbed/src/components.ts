import type { Component } from "./component.ts";
import { dockerComponents } from "./components-docker.ts";
import { kafkaComponents } from "./components-kafka.ts";
import { kubernetesComponents } from "./components-kubernetes.ts";
import { TestbedError } from "./errors.ts";
import type { Layout } from "./layout.ts";
import type { Settings } from "./settings.ts";

/** Every part that these settings ask for, in the order in which they start. */
export const componentsOf = (layout: Layout, settings: Settings): Component[] => [
  ...kafkaComponents(layout, settings),
  ...kubernetesComponents(layout, settings),
  ...dockerComponents(layout, settings),
];

export const componentNamed = (layout: Layout, settings: Settings, name: string): Component => {
  const components = componentsOf(layout, settings);
  const component = components.find((candidate) => candidate.name === name);
  if (component === undefined)
    throw new TestbedError(`No component "${name}"; there are ${components.map((each) => each.name).join(", ")}`);
  return component;
};
