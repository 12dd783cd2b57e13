import { expect, test } from "vitest";
import { Connection } from "../src/connection.ts";
import { receiver } from "./receiver.ts";

const signal = new AbortController().signal;
const connectionTo = (address: string, timeout = 5_000): Connection => {
  const [host = "", port] = address.split(":");
  return new Connection({ host, port: Number(port), timeout });
};
const arrived = (lines: () => readonly string[], wanted: readonly string[]) =>
  expect.poll(lines, { interval: 5 }).toEqual(wanted);

test("one connection carries many writes", async () => {
  await using server = await receiver();
  await using connection = connectionTo(server.address);
  for (const word of ["a", "b", "c"]) await connection.send(Buffer.from(`${word} 1 1\n`), signal);
  await arrived(server.lines, ["a 1 1", "b 1 1", "c 1 1"]);
});

test("a receiver that goes away and comes back is found again", async () => {
  const first = await receiver();
  await using connection = connectionTo(first.address);
  await connection.send(Buffer.from("a 1 1\n"), signal);
  await arrived(first.lines, ["a 1 1"]);
  await first[Symbol.asyncDispose]();
  await expect
    .poll(() =>
      connection.send(Buffer.from("lost 1 1\n"), signal).then(
        () => "",
        (error: { code: string }) => error.code,
      ),
    )
    .toBe("TRAWLER_UNAVAILABLE");
  await using second = await receiver(Number(first.address.split(":")[1]));
  await connection.send(Buffer.from("b 1 1\n"), signal);
  await arrived(second.lines, ["b 1 1"]);
});

test("a receiver that reads no more ends the write at its deadline", async () => {
  await using server = await receiver();
  server.stall();
  await using connection = connectionTo(server.address, 200);
  const much = Buffer.alloc(64 * 1024 * 1024, "x");
  await expect(connection.send(much, signal)).rejects.toMatchObject({ code: "TRAWLER_UNAVAILABLE" });
});
