import { parseJson, processTemplate, toYaml } from "@trawler/provision";
import { fixed, median } from "../agent/usage.ts";
import type { Benchmark } from "../benchmark.ts";
import { templateText } from "./templates.ts";

/** A Deployment of usual size with references in names, texts and numbers. */
function deployment(at: number): object {
  const labels = { app: "${NAME}", part: `p${at}` };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: `\${NAME}-${at}`, labels, annotations: { description: "Part of ${NAME}, for ${OWNER}." } },
    spec: {
      replicas: "${{REPLICAS}}",
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: "main",
              image: "registry.example.test/${NAME}:${VERSION}",
              ports: [{ containerPort: "${{PORT}}" }],
              env: Array.from({ length: 8 }, (_, index) => ({ name: `SETTING_${index}`, value: "${OWNER}/${NAME}" })),
              resources: { limits: { memory: "${MEMORY}", cpu: "500m" } },
              readinessProbe: { httpGet: { path: "/", port: "${{PORT}}" }, periodSeconds: 5 },
            },
          ],
        },
      },
    },
  };
}

const PARAMETERS = [
  { name: "NAME", value: "shop" },
  { name: "OWNER", value: "team" },
  { name: "VERSION", value: "1.4" },
  { name: "REPLICAS", value: "3" },
  { name: "PORT", value: "8080" },
  { name: "MEMORY", value: "512Mi" },
  { name: "SECRET", generate: "expression", from: "[A-Za-z0-9]{24}" },
];

export const bench: Benchmark = {
  name: "provision-process",
  title: "Processing a template of 1,000 objects",
  async run({ log, quick, signal }) {
    const count = 1_000;
    const rounds = quick ? 2 : 15;
    const objects = [...Array.from({ length: count - 1 }, (_, at) => deployment(at)), SECRET_OBJECT];
    const json = templateText(objects, PARAMETERS);
    const yaml = toYaml(parseJson(json));
    const rows = [];
    const raw: Record<string, readonly number[]> = {};
    for (const [form, source] of [
      ["JSON", json],
      ["YAML", yaml],
    ] as const) {
      const times: number[] = [];
      for (let round = -2; round < rounds; round++) {
        signal.throwIfAborted();
        const before = process.cpuUsage();
        const { template, faults } = processTemplate(source, { namespace: "shop" });
        const { user, system } = process.cpuUsage(before);
        if (template?.objects.length !== count) throw new Error(JSON.stringify(faults.slice(0, 3)));
        if (round >= 0) times.push((user + system) / 1000);
      }
      const { middle, spread } = median(times);
      const size = source.length / 1024 ** 2;
      log(`${form}: ${fixed(middle, 0)} ms`);
      rows.push({
        what: `${form}, ${fixed(size, 1)} MiB`,
        figure: `${fixed(middle, 0)} ± ${fixed(spread, 0)} ms, ${fixed((middle / count) * 1000, 0)} µs an object`,
      });
      raw[form] = times;
    }
    return {
      rows,
      method: `999 Deployments of usual size with sixteen references each, and a Secret with a generated value; strict mode: read, checked with line and column, substituted, labelled. CPU time, medians of ${rounds} rounds, ± half the distance of the quartiles.`,
      raw: { milliseconds: raw },
    };
  },
};

const SECRET_OBJECT = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name: "${NAME}-key" },
  stringData: { key: "${SECRET}" },
};
