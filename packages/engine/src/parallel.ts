/** Runs `work` on every item, at most `limit` at once; results in the order of the items. The first throw is thrown. */
export async function parallel<T, R>(
  items: readonly T[],
  limit: number,
  work: (item: T) => R | Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const entries = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of entries) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
  return results;
}
