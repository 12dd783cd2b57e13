import { parseExposition, type Sample } from "@trawler/application";

const MAX_SERIES = 2_000;

/** A page of metrics by name. MicroProfile Metrics writes the scope before the name (2, 3) or as a label (4, 5). */
export class Figures {
  readonly #samples = new Map<string, Sample[]>();
  readonly truncated: boolean;

  constructor(page: string) {
    const { samples, truncated } = parseExposition(page, () => true, MAX_SERIES);
    for (const sample of samples) {
      const name = sample.name.replace(/^(base|vendor)_/, "");
      const known = this.#samples.get(name);
      if (known === undefined) this.#samples.set(name, [sample]);
      else known.push(sample);
    }
    this.truncated = truncated;
  }

  /** The one value of a name; null where there is none, or where it is negative, which stands for "not known". */
  one(name: string): number | null {
    const [first] = this.#samples.get(name) ?? [];
    return first === undefined || first.value < 0 ? null : first.value;
  }

  /** All series of a name together; null where there is none. */
  sum(name: string): number | null {
    const known = this.#samples.get(name)?.filter(({ value }) => value >= 0) ?? [];
    return known.length === 0 ? null : known.reduce((sum, { value }) => sum + value, 0);
  }

  /** Values of a name by one of its labels. */
  by(label: string, name: string): ReadonlyMap<string, number> {
    const found = (this.#samples.get(name) ?? []).flatMap(({ labels, value }): [string, number][] => {
      const text = labels.find((one) => one.startsWith(`${label}="`));
      return text === undefined || value < 0 ? [] : [[text.slice(label.length + 2, -1).slice(0, 256), value]];
    });
    return new Map(found);
  }

  /** The values that a label has in any of these names, sorted. */
  values(label: string, names: readonly string[]): readonly string[] {
    return [...new Set(names.flatMap((name) => [...this.by(label, name).keys()]))].sort();
  }
}
