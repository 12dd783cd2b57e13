import { parseArgs } from "node:util";
import { down } from "./down.ts";
import { messageOf } from "./errors.ts";
import { layoutFrom } from "./layout.ts";
import { progressOnStderr } from "./progress.ts";
import { readSettings, type UpChoice } from "./settings.ts";
import { formatStatus, readStatus } from "./status.ts";
import { describeTestbed, shellExports, testbedEnvironment } from "./testbed.ts";
import { up } from "./up.ts";

const usage = `npm run testbed -- COMMAND

  up [--brokers N] [--secure | --open] [--docker]
     [--without-kafka] [--without-kubernetes]
                  bring up what is missing; what is not named stays as it is
  status [--json] say what runs; exit 1 where something does not
  env             print shell exports: eval "$(npm run -s testbed -- env)"
  down            end everything that was started, and leave nothing behind
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    brokers: { type: "string" },
    secure: { type: "boolean" },
    open: { type: "boolean" },
    docker: { type: "boolean" },
    "without-kafka": { type: "boolean" },
    "without-kubernetes": { type: "boolean" },
    json: { type: "boolean" },
    help: { type: "boolean" },
  },
});

const choice = (): UpChoice => {
  const brokers = values["without-kafka"] ? "0" : values.brokers;
  if (brokers !== undefined && !/^[0-9]$/.test(brokers)) throw new Error("--brokers takes a number from 0 to 9");
  return {
    ...(brokers !== undefined && { brokers: Number(brokers) }),
    ...(values.secure && { secure: true }),
    ...(values.open && { secure: false }),
    ...(values.docker && { docker: true }),
    ...(values["without-kubernetes"] && { kubernetes: false }),
  };
};

const layout = layoutFrom(process.env);

const commands: Readonly<Record<string, () => Promise<number>>> = {
  up: async () => {
    await up(layout, choice(), progressOnStderr());
    process.stdout.write(formatStatus(await readStatus(layout)));
    return 0;
  },
  status: async () => {
    const status = await readStatus(layout);
    process.stdout.write(values.json ? `${JSON.stringify(status, undefined, 2)}\n` : formatStatus(status));
    return status.up ? 0 : 1;
  },
  env: async () => {
    const settings = readSettings(layout);
    if (settings === undefined) throw new Error("No testbed is up: run `npm run testbed -- up`");
    process.stdout.write(shellExports(testbedEnvironment(describeTestbed(layout, settings))));
    return 0;
  },
  down: async () => {
    await down(layout, progressOnStderr());
    return 0;
  },
};

const command = values.help ? undefined : commands[positionals[0] ?? ""];
if (command === undefined) {
  process.stderr.write(usage);
  process.exitCode = values.help ? 0 : 2;
} else {
  try {
    process.exitCode = await command();
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    process.exitCode = 1;
  }
}
