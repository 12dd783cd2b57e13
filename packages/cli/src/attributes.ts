import type { Instance } from "@trawler/engine";
import type { Environment, EnvironmentPlugin, WorkloadEvent } from "@trawler/plugin-api";

/** Gives each workload the attributes that the user fixed; what the environment knows itself wins. */
export function withAttributes(
  environment: Instance<EnvironmentPlugin, Environment>,
  attributes: Readonly<Record<string, string>>,
): Instance<EnvironmentPlugin, Environment> {
  if (Object.keys(attributes).length === 0) return environment;
  const { instance } = environment;
  return {
    ...environment,
    instance: {
      async *discover(context) {
        for await (const event of instance.discover(context)) yield added(event, attributes);
      },
      describe: () => instance.describe?.() ?? "",
    },
  };
}

function added(event: WorkloadEvent, attributes: Readonly<Record<string, string>>): WorkloadEvent {
  if (event.type === "synced") return event;
  const { workload } = event;
  return { ...event, workload: { ...workload, resource: { ...attributes, ...workload.resource } } };
}
