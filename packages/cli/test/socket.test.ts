import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type NetConnectOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serveCollector } from "../src/commands/inventory/socket.ts";
import { boundedServer, listen } from "../src/http.ts";
import { dataListener, FrameReaders } from "../src/socket.ts";

/** Asks for `//`, which no URL can be made of. */
async function askForNothing(where: NetConnectOpts): Promise<string> {
  const socket = connect(where);
  socket.write("GET // HTTP/1.1\r\nhost: agent\r\nconnection: close\r\n\r\n");
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  await once(socket, "close");
  return text;
}

test("the agent answers a request for what is no address, and goes on", async () => {
  await using server = await listen(boundedServer(dataListener(new FrameReaders(), () => [])), {
    host: "127.0.0.1",
    port: 0,
  });
  expect(await askForNothing({ host: "127.0.0.1", port: server.port })).toMatch(/^HTTP\/1\.1 400 /);
});

test("so does the inventory", async () => {
  const folder = mkdtempSync(join(tmpdir(), "trawler-socket-"));
  try {
    await using _ = await serveCollector(folder, () => null);
    expect(await askForNothing({ path: join(folder, "inventory.sock") })).toMatch(/^HTTP\/1\.1 400 /);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
