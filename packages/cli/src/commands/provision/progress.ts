import { type Item, type Run, titleOf, type Until, type Watcher } from "@trawler/provision";
import type { World } from "../../world.ts";
import { stateOf } from "./report.ts";

/** Most objects that a terminal shows at a time. */
const ROWS = 15;

/**
 * Progress on stderr: in a terminal a block that is drawn anew, with the objects that moved last; else a line for each
 * change. `until`: what the run waits for.
 */
export function progress({ stderr }: World, until: Until = "ready"): Watcher & { end(): void } {
  if (!stderr.terminal) {
    return {
      item: (item) => void stderr.write(`${lineOf(item, until)}\n`),
      run: ({ state }) => void stderr.write(`${state}\n`),
      end: () => {},
    };
  }
  const moved = new Map<number, Item>();
  let state = "";
  let drawn = 0;
  const draw = (): void => {
    const rows = [state, ...[...moved.values()].slice(-ROWS).map((item) => `  ${lineOf(item, until)}`)];
    const up = drawn === 0 ? "" : `\u001b[${drawn}A`;
    void stderr.write(`${up}\u001b[0J${rows.map((row) => row.slice(0, 100)).join("\n")}\n`);
    drawn = rows.length;
  };
  return {
    item: (item) => {
      moved.delete(item.index);
      moved.set(item.index, item);
      draw();
    },
    run: (run: Run) => {
      state = run.state;
      draw();
    },
    end: () => void stderr.write(drawn === 0 ? "" : `\u001b[${drawn}A\u001b[0J`),
  };
}

function lineOf(item: Item, until: Until): string {
  const failed = item.error === null || item.status === "creating" ? "" : `: ${item.error.message}`;
  return `${titleOf(item)} ${stateOf(item, until)}${failed}`;
}
