/** Values from many hands to one reader, in order. Ends, or fails, once what was put in before has been read. */
export class Channel<T> implements AsyncIterable<T> {
  readonly #values: T[] = [];
  #ended = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  /** Values that wait to be read. */
  get length(): number {
    return this.#values.length;
  }

  push(value: T): void {
    if (this.#ended) return;
    this.#values.push(value);
    this.#wake?.();
  }

  end(error?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#error = error;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const value = this.#values.shift();
      if (value !== undefined) yield value;
      else if (!this.#ended) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
      } else if (this.#error !== undefined) throw this.#error;
      else return;
    }
  }
}
