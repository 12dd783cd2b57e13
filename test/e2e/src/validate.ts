import { readdirSync, readFileSync } from "node:fs";
import type { Frame } from "@trawler/plugin-api";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

const folder = new URL("../../../schema/", import.meta.url);

/** Checks frames against the published schemas, the envelope's and each feature's; answers what is wrong. */
export function frameValidator(): (frame: Frame) => readonly string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const compile = (path: string): ValidateFunction =>
    ajv.compile(JSON.parse(readFileSync(new URL(path, folder), "utf8")));
  const envelope = compile("frame-v1.json");
  const features = new Map(
    readdirSync(new URL("features/", folder)).map((file) => [file.replace(/\.json$/, ""), compile(`features/${file}`)]),
  );
  const faults = (check: ValidateFunction, value: unknown, where: string): string[] =>
    check(value) ? [] : (check.errors ?? []).map(({ instancePath, message }) => `${where}${instancePath} ${message}`);
  return (frame) => [
    ...faults(envelope, frame, ""),
    ...[...frame.features, ...frame.containers.flatMap((one) => one.features)].flatMap(({ type, value }) => {
      const check = features.get(type);
      return check ? faults(check, value, type) : [`${type} has no published schema`];
    }),
  ];
}
