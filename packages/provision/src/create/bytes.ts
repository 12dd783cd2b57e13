/** Bodies that are on their way at the same time, in characters: large objects go one after another. */
const MOST_UNDER_WAY = 16 * 1024 ** 2;

/** Lets tasks run together while their sizes stay below a limit; one that is larger runs alone. */
export class ByteGate {
  readonly #limit: number;
  readonly #waiting: { readonly size: number; readonly go: () => void }[] = [];
  #used = 0;

  constructor(limit: number = MOST_UNDER_WAY) {
    this.#limit = limit;
  }

  async run<T>(size: number, task: () => Promise<T>): Promise<T> {
    if (this.#waiting.length > 0 || !this.#fits(size)) {
      await new Promise<void>((go) => void this.#waiting.push({ size, go }));
    } else this.#used += size;
    try {
      return await task();
    } finally {
      this.#used -= size;
      this.#next();
    }
  }

  #next(): void {
    for (let first = this.#waiting[0]; first !== undefined && this.#fits(first.size); first = this.#waiting[0]) {
      this.#waiting.shift();
      this.#used += first.size;
      first.go();
    }
  }

  #fits(size: number): boolean {
    return this.#used === 0 || this.#used + size <= this.#limit;
  }
}
