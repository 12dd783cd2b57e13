import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const DEBIAN = "/usr/lib/postgresql";
/** Who the server runs as where we are root, which it refuses. */
const NOBODY = 65_534;
const PASSWORD = "s3cret-of-the-store";
const APT = "/usr/bin/apt-get";
const policy = "/usr/sbin/policy-rc.d";

/** A real server of our own on loopback. */
export interface PostgresqlServer {
  readonly port: number;
  /** Address of a data base; without arguments that of the tests' own user. */
  url(given?: { readonly user?: string; readonly password?: string; readonly database?: string }): string;
  start(): Promise<void>;
  /** `kill`: as by a crash. */
  stop(how: "fast" | "kill"): Promise<void>;
  remove(): Promise<void>;
}

/** Why there can be no server here; null where there can. */
export function postgresqlUnsupported(): string | null {
  if (binaries() !== null) return null;
  const canInstall = process.getuid?.() === 0 && existsSync(APT);
  return canInstall ? null : "no PostgreSQL server is installed, and only root on Debian can install one";
}

/** Folder of initdb and postgres, the newest; null where there is none. */
function binaries(): string | null {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : [];
  const found = versions.map((version) => join(DEBIAN, version, "bin"));
  return found.find((folder) => existsSync(join(folder, "initdb"))) ?? null;
}

/** Paths of PEM files: the server's own, and the CA of those who may connect. */
export interface ServerTls {
  readonly certificate: string;
  readonly key: string;
  readonly clientCa: string;
}

/**
 * Makes a server's folder and starts it. Installs Debian's package where there is none; its own service is not started.
 * With `tls` it takes encrypted connections only, of clients with a certificate.
 */
export async function startPostgresql(tls?: ServerTls): Promise<PostgresqlServer> {
  const bin = binaries() ?? install();
  const folder = mkdtempSync(join(tmpdir(), "trawler-postgresql-"));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ("uid" in user) chownSync(folder, NOBODY, NOBODY);
  const data = join(folder, "data");
  const passwordFile = join(folder, "password");
  writeFileSync(passwordFile, PASSWORD);
  if ("uid" in user) chownSync(passwordFile, NOBODY, NOBODY);
  const init = [
    "-D",
    data,
    "-U",
    "trawler",
    "-A",
    "scram-sha-256",
    `--pwfile=${passwordFile}`,
    "-E",
    "UTF8",
    "--no-sync",
  ];
  check(spawnSync(join(bin, "initdb"), [...init, "--locale=C"], { ...user, encoding: "utf8", cwd: folder }));
  const port = await freePort();
  const encrypted = tls === undefined ? [] : encryption(data, tls, "uid" in user);
  let child: ReturnType<typeof spawn> | null = null;
  let said = "";
  const server: PostgresqlServer = {
    port,
    url: ({ user: name = "trawler", password = PASSWORD, database = "postgres" } = {}) =>
      `postgresql://${name}:${password}@127.0.0.1:${port}/${database}`,
    start: async () => {
      const args = ["-D", data, "-h", "127.0.0.1", "-p", `${port}`, "-k", folder, "-c", "fsync=off", ...encrypted];
      const started = spawn(join(bin, "postgres"), args, { ...user, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
      child = started;
      said = "";
      started.stderr.on("data", (chunk: Buffer) => {
        said = (said + chunk.toString("utf8")).slice(-10_000);
      });
      const until = Date.now() + 60_000;
      while (!said.includes("ready to accept connections")) {
        if (started.exitCode !== null || Date.now() > until) throw new Error(`PostgreSQL does not start: ${said}`);
        await sleep(20);
      }
    },
    stop: async (how) => {
      const running = child;
      child = null;
      if (running === null || running.exitCode !== null) return;
      const ended = new Promise((resolve) => running.once("exit", resolve));
      // SIGQUIT ends every process of it at once, without a checkpoint: the next start recovers as after a crash.
      running.kill(how === "fast" ? "SIGINT" : "SIGQUIT");
      await ended;
    },
    remove: async () => {
      await server.stop("fast");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await server.start();
  return server;
}

/** Arguments of a server that speaks TLS. It reads a key only that is its own. */
function encryption(data: string, { certificate, key, clientCa }: ServerTls, isRoot: boolean): readonly string[] {
  const ownKey = join(data, "server.key");
  copyFileSync(key, ownKey);
  chmodSync(ownKey, 0o600);
  if (isRoot) chownSync(ownKey, NOBODY, NOBODY);
  writeFileSync(join(data, "pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n");
  const settings = { ssl: "on", ssl_cert_file: certificate, ssl_key_file: ownKey, ssl_ca_file: clientCa };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

function install(): string {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const lock = ["-o", "DPkg::Lock::Timeout=300", "-q", "-y"];
  const own = !existsSync(policy);
  if (own) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  try {
    check(spawnSync(APT, ["update", ...lock], { env, encoding: "utf8" }));
    check(spawnSync(APT, ["install", "--no-install-recommends", ...lock, "postgresql"], { env, encoding: "utf8" }));
  } finally {
    if (own) rmSync(policy, { force: true });
  }
  const found = binaries();
  if (found === null) throw new Error("the package brought no server");
  return found;
}

function check({ status, stderr, error }: { status: number | null; stderr: string; error?: Error | undefined }): void {
  if (status !== 0) throw new Error(stderr, { cause: error });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
