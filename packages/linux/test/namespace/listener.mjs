// Runs inside a network namespace of a test: listens on each of its arguments (`host:port` or `unix:path`, a leading @
// for an abstract name), says `hello` to who connects, and prints what it listens on. Ends with its standard input.
import net from "node:net";

const listening = [];
for (const argument of process.argv.slice(2)) {
  const server = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.end(`hello from ${argument}`);
  });
  const cut = argument.lastIndexOf(":");
  const options = argument.startsWith("unix:")
    ? { path: argument.slice(5).replace(/^@/, "\0") }
    : { host: argument.slice(0, cut), port: Number(argument.slice(cut + 1)) };
  await new Promise((resolve, reject) => server.once("error", reject).listen(options, resolve));
  const address = server.address();
  listening.push(typeof address === "string" ? 0 : address.port);
}
process.stdout.write(`${JSON.stringify(listening)}\n`);
process.stdin.resume().on("end", () => process.exit(0));
