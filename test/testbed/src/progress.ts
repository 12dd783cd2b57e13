/** Tells a person what the testbed is doing. */
export type Progress = (line: string) => void;

/** Lines on stderr with the seconds since the start. */
export const progressOnStderr = (now: () => number = () => performance.now()): Progress => {
  const start = now();
  return (line) => {
    process.stderr.write(`testbed ${((now() - start) / 1000).toFixed(1).padStart(6)} s  ${line}\n`);
  };
};
