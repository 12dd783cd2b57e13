import type { Paint } from "../plan.ts";
import type { Fields } from "./fields.ts";

/** How pages are shown. */
export interface PageOptions {
  /** Units and meanings of features. */
  readonly fields: Fields;
  readonly paint: Paint;
  /** Characters of a line. */
  readonly width: number;
  /** Rows of one table. */
  readonly rows: number;
  /** Each field of a list with the sentence that its schema has for it. */
  readonly meanings: boolean;
}
