/** Values of OTLP's JSON form (opentelemetry-proto 1.x, "OTLP/JSON"): 64-bit integers are texts, bytes are hex. */
type AnyValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } };

export interface Attribute {
  readonly key: string;
  readonly value: AnyValue;
}

/** Attributes of a map; what is null or empty is left out. */
export function attributesOf(map: Readonly<Record<string, unknown>>): readonly Attribute[] {
  return Object.entries(map).flatMap(([key, value]): readonly Attribute[] => {
    const any = anyValue(value);
    return any === null || key === "" ? [] : [{ key, value: any }];
  });
}

function anyValue(value: unknown): AnyValue | null {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") {
    if (!Number.isFinite(value)) return null;
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  }
  if (!Array.isArray(value)) return null;
  return { arrayValue: { values: value.map(anyValue).filter((item) => item !== null) } };
}

/** Nanoseconds of an RFC 3339 time as text. */
export function nanoseconds(time: string): string {
  return `${Date.parse(time)}000000`;
}
