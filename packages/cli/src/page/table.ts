/** One column: its heading, and the text of each row. */
export interface Column {
  readonly heading: string;
  readonly cells: readonly string[];
}

/** Characters of one cell; what is longer is cut. */
const MAX_CELL = 48;
const GAP = 2;

/**
 * Lines of a table that fits `width`: the first column, then as many as fit, the narrow ones before the wide ones, each in
 * its place. `left` names the others.
 */
export function table(
  columns: readonly Column[],
  width: number,
): { readonly lines: readonly string[]; readonly left: readonly string[] } {
  const [first] = columns;
  const taken = new Set<Column>();
  let used = -GAP;
  for (const column of columns.toSorted((one, other) => widthOf(one) - widthOf(other)).toSorted(byFirst(first))) {
    if (column !== first && used + GAP + widthOf(column) > width) continue;
    used += GAP + widthOf(column);
    taken.add(column);
  }
  const shown = columns.filter((column) => taken.has(column));
  const line = (text: (column: Column) => string): string =>
    shown
      .map((column) => cut(text(column), widthOf(column)).padEnd(widthOf(column)))
      .join(" ".repeat(GAP))
      .trimEnd();
  return {
    lines: [
      line(({ heading }) => heading),
      ...(first?.cells ?? []).map((_, row) => line(({ cells }) => cells[row] ?? "")),
    ],
    left: columns.filter((column) => !taken.has(column)).map(({ heading }) => heading),
  };
}

const widthOf = ({ heading, cells }: Column): number =>
  Math.min(MAX_CELL, Math.max(heading.length, ...cells.map((cell) => cell.length)));

const byFirst =
  (first: Column | undefined) =>
  (one: Column, other: Column): number =>
    Number(other === first) - Number(one === first);

const cut = (text: string, width: number): string => (text.length <= width ? text : `${text.slice(0, width - 1)}…`);
