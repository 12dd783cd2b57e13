export type Path = readonly (string | number)[];

/** Where something stands: `line` and `column` count from 1; line 0 = not in a file (an override). */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Where each key and each value of a configuration stands. */
export class Places {
  readonly #origin: Place;
  readonly #places = new Map<string, { key: Place; value: Place }>();

  constructor(file: string) {
    this.#origin = { file, line: 0, column: 0 };
  }

  set(path: Path, key: Place, value: Place): void {
    this.#places.set(JSON.stringify(path), { key, value });
  }

  /** The place of a value; where it is absent, of the nearest key above it. */
  value(path: Path): Place {
    return this.#places.get(JSON.stringify(path))?.value ?? this.key(path.slice(0, -1));
  }

  key(path: Path): Place {
    for (let length = path.length; length >= 0; length--) {
      const place = this.#places.get(JSON.stringify(path.slice(0, length)));
      if (place) return place.key;
    }
    return this.#origin;
  }
}

/** `pipelines.default.emitters.kafka/main.brokers[0]`; a part that holds a dot is quoted. */
export function pathText(path: Path): string {
  return path
    .map((part, index) => {
      if (typeof part === "number") return `[${part}]`;
      const text = /^[^.[\]"\s]+$/.test(part) ? part : JSON.stringify(part);
      return index === 0 ? text : `.${text}`;
    })
    .join("");
}

/** Reads `a.b[0]."c.d"`; null where it is no path. */
export function parsePath(text: string): Path | null {
  const path: (string | number)[] = [];
  const part = /(?:^|\.)(?:"((?:[^"\\]|\\.)*)"|([^.[\]"\s]+))|\[(\d{1,6})\]/y;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (!match) return null;
    const [, quoted, plain, index] = match;
    if (index !== undefined) path.push(Number(index));
    else path.push(quoted !== undefined ? quoted.replace(/\\(.)/g, "$1") : (plain ?? ""));
  }
  return path.length > 0 ? path : null;
}
