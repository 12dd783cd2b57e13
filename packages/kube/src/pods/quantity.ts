/**
 * A Kubernetes quantity (`10m`, `1.5Gi`, `1e3`) as a number of base units, rounded to the nearest double only at the
 * end. Null for what is no quantity, or a negative one. Grammar: apimachinery `api/resource` Quantity.
 */
export function parseQuantity(text: unknown): number | null {
  if (typeof text === "number") return Number.isFinite(text) && text >= 0 ? text : null;
  if (typeof text !== "string" || text.length > 64) return null;
  const usual = USUAL.exec(text);
  if (usual !== null) return scaled(Number(usual[1]), usual[2]);
  const match = QUANTITY.exec(text);
  if (match === null) return null;
  const { whole = "", fraction = "", binary, decimal, exponent } = match.groups ?? {};
  if (whole === "" && fraction === "") return null;
  const power = exponent === undefined ? (decimal === undefined ? 0 : DECIMAL[decimal]) : Number(exponent);
  if (power === undefined || Math.abs(power) > 100) return null;
  const shift = binary === undefined ? 0n : BINARY[binary];
  if (shift === undefined) return null;
  const mantissa = BigInt(whole + fraction) << shift;
  return Number(`${mantissa}e${power - fraction.length}`);
}

/** What nearly all are: it needs no large integers, as neither step can round twice. */
const USUAL = /^(\d{1,15})(m|[KMG]i)?$/;

function scaled(value: number, unit: string | undefined): number {
  if (unit === undefined) return value;
  return unit === "m" ? value / 1000 : value * 1024 ** (unit === "Ki" ? 1 : unit === "Mi" ? 2 : 3);
}

/** Bytes, rounded up as Kubernetes does. */
export function parseBytes(text: unknown): number | null {
  const value = parseQuantity(text);
  return value === null ? null : Math.ceil(value);
}

const QUANTITY =
  /^\+?(?<whole>\d*)(?:\.(?<fraction>\d*))?(?:(?<binary>[KMGTPE]i)|[eE](?<exponent>[+-]?\d+)|(?<decimal>[numkMGTPE]))?$/;

const DECIMAL: Readonly<Record<string, number>> = { n: -9, u: -6, m: -3, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Readonly<Record<string, bigint>> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };
