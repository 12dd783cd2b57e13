// Plays a container: already in a mount namespace of its own, it mounts what the test wants, makes the folder its root
// and stays until its standard input ends.
import fs from "node:fs";
import koffi from "koffi";

const [root, ...wishes] = process.argv.slice(2);
const library = koffi.load(null);
const chroot = library.func("chroot", "int", ["str"]);
const mount = library.func("mount", "int", ["str", "str", "str", "ulong", "str"]);
const MS_BIND = 4096;

function must(result, what) {
  if (result !== 0) throw new Error(`${what}: errno ${koffi.errno()}`);
}

must(mount(root, root, "none", MS_BIND, null), "bind root");
for (const wish of wishes) {
  const [type, name] = wish.split(":");
  const path = `${root}/${name}`;
  if (type === "file") {
    fs.writeFileSync(path, "");
    must(mount(`${root}/etc/os-release`, path, "none", MS_BIND, null), wish);
    continue;
  }
  fs.mkdirSync(path, { recursive: true });
  // Nobody answers this one: whoever asks it anything waits for ever.
  const data = type === "fuse" ? `fd=${fs.openSync("/dev/fuse", "r+")},rootmode=40000,user_id=0,group_id=0` : null;
  must(mount("test", path, type, 0, data), wish);
  if (type === "tmpfs") fs.writeFileSync(`${path}/file`, "on a volume");
}
must(chroot(root), "chroot");
process.chdir("/");
process.stdout.write("ready\n");
process.stdin.resume().on("end", () => process.exit(0));
