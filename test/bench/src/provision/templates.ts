import { type ProcessedTemplate, processTemplate } from "@trawler/provision";

export interface ConfigMap {
  readonly apiVersion: "v1";
  readonly kind: "ConfigMap";
  readonly metadata: { readonly name: string };
  readonly data: Readonly<Record<string, string>>;
}

/** As many ConfigMaps of about a kilobyte. */
export function configMaps(count: number, prefix: string): readonly ConfigMap[] {
  return Array.from({ length: count }, (_, at) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `${prefix}-${at}` },
    data: { "settings.ini": `[part]\nnumber = ${at}\n`.repeat(48) },
  }));
}

export function processed(objects: readonly object[], namespace: string): ProcessedTemplate {
  const { template, faults } = processTemplate(templateText(objects), { namespace });
  if (template === null) throw new Error(JSON.stringify(faults));
  return template;
}

export function templateText(objects: readonly object[], parameters: readonly object[] = []): string {
  return JSON.stringify({
    apiVersion: "template.openshift.io/v1",
    kind: "Template",
    metadata: { name: "bench" },
    labels: parameters.length === 0 ? {} : { app: "${NAME}" },
    parameters,
    objects,
  });
}
