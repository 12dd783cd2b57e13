/** One behaviour that must hold. Feed each to your own test runner: `for (const { name, run } of …) test(name, run)`. */
export interface Case {
  readonly name: string;
  run(): Promise<void>;
}
