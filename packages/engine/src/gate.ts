/** Lets at most `limit` pieces of work run at once; the others wait in order. */
export class Gate {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(limit: number) {
    this.#free = limit;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
