// Swaps two entries of a folder as fast as it can, until its standard input ends: the race of an attacker who turns a
// folder into a link while it is read. `exchange A B` swaps in place; `blink A` makes and removes a file.
import fs from "node:fs";
import koffi from "koffi";

const [kind, first, second] = process.argv.slice(2);
const AT_FDCWD = -100;
const RENAME_EXCHANGE = 2;
const rename = koffi.load(null).func("renameat2", "int", ["int", "str", "int", "str", "uint"]);

let going = true;
process.stdin.resume().on("end", () => {
  going = false;
});
process.stdout.write("ready\n");
while (going) {
  for (let turn = 0; turn < 500; turn++) {
    if (kind === "exchange") rename(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE);
    else {
      fs.writeFileSync(first, "x");
      fs.unlinkSync(first);
    }
  }
  await new Promise((resolve) => setImmediate(resolve));
}
process.exit(0);
