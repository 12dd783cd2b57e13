import { execFileSync } from "node:child_process";
import { seccompFilter } from "@trawler/linux";
import { expect, test } from "vitest";

/** What a process finds that confines itself and then tries the rest. */
function confined(): Readonly<Record<string, unknown>> {
  const text = `
    import { readFileSync } from "node:fs";
    import { connect } from "node:net";
    import { spawnSync } from "node:child_process";
    import { confine } from "@trawler/linux";
    const given = await confine();
    const refused = await new Promise((done) => connect(9, "127.0.0.1").on("error", ({ code }) => done(code)));
    const spawned = spawnSync("/bin/true").error?.code;
    let killed = "";
    try { process.kill(process.ppid, 0); } catch ({ code }) { killed = code; }
    const effective = /^CapEff:\\t(.*)$/m.exec(readFileSync("/proc/self/status", "latin1"))[1];
    let environment = "";
    try { readFileSync("/proc/" + process.ppid + "/environ"); } catch ({ code }) { environment = code; }
    console.log(JSON.stringify({ given, refused, spawned, killed, effective, environment }));
  `;
  const args = ["--conditions=@trawler/source", "--input-type=module", "--eval", text];
  return JSON.parse(execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" }));
}

test.skipIf(process.platform !== "linux")(
  "a confined process has no network, programs, signals or capabilities",
  () => {
    expect(confined()).toMatchObject({
      given: { capabilities: true, systemCalls: true },
      refused: "EPERM",
      spawned: "EPERM",
      killed: "EPERM",
      effective: "0000000000000000",
    });
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "a confined process of root can't read the environment of one with rights",
  () => {
    expect(confined()).toMatchObject({ environment: "EACCES" });
  },
);

test("the filter denies what it lists and, as a whole, calls of another architecture", () => {
  const run = (audit: number, number: number): number => evaluate(seccompFilter(0xc000003e, [41, 59]), audit, number);
  const [allow, deny] = [0x7fff0000, 0x00050001];
  expect([run(0xc000003e, 0), run(0xc000003e, 41), run(0xc000003e, 59), run(0xc000003e, 60)]).toEqual([
    allow,
    deny,
    deny,
    allow,
  ]);
  expect([run(0x40000003, 0), run(0xc000003e, 0x40000000)]).toEqual([deny, deny]);
});

/** As the kernel reads a filter of these few instructions. */
function evaluate(filter: Buffer, audit: number, number: number): number {
  let value = 0;
  for (let at = 0; ; at += 8) {
    const code = filter.readUInt16LE(at);
    const operand = filter.readUInt32LE(at + 4);
    if (code === 0x06) return operand;
    if (code === 0x20) value = operand === 4 ? audit : number;
    else at += 8 * filter.readUInt8(at + ((code === 0x15 ? value === operand : value >= operand) ? 2 : 3));
  }
}
