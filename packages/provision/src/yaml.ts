import { stringify } from "yaml";
import { isRawNumber, type JsonValue } from "./json.ts";

/** JSON as YAML for people, with exact numbers. What older readers take for booleans or numbers stands in quotes. */
export function toYaml(value: JsonValue): string {
  return stringify(value, {
    version: "1.1",
    lineWidth: 0,
    aliasDuplicateObjects: false,
    customTags: [
      {
        tag: "tag:yaml.org,2002:float",
        default: true,
        identify: isRawNumber,
        resolve: (text: string) => text,
        stringify: ({ value: raw }) => (isRawNumber(raw) ? raw.rawJSON : String(raw)),
      },
    ],
  });
}
