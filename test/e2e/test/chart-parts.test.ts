import { applicationsImage, importApplications, kubectl } from "@trawler/testbed";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildImage, makeSecret, PATIENCE, valuesFor } from "../src/daemonset.ts";
import { CHART, helm } from "../src/helm.ts";
import { pod } from "../src/manifests.ts";
import { apply, podReady } from "../src/node.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

const inventory = "agent-trawler-inventory";
const provision = "agent-trawler-provision";

interface Answer {
  readonly complete: boolean;
  readonly records: readonly { readonly uid: string; readonly name: string; readonly end: object | null }[];
}

/** A real PostgreSQL in the node, that pods of the same bridge reach with a password. */
const postgresql = (namespace: string): object =>
  pod(namespace, "postgresql", {
    containers: [
      {
        name: "postgresql",
        image: applicationsImage,
        command: [
          "/bin/sh",
          "-c",
          [
            "set -e",
            "bin=/usr/lib/postgresql/15/bin; mkdir /tmp/pg; chown postgres /tmp/pg",
            "echo s3cret-of-the-store > /tmp/password; chmod 644 /tmp/password",
            'su postgres -c "$bin/initdb -D /tmp/pg/data -A scram-sha-256 --pwfile=/tmp/password -U trawler -E UTF8 --locale=C"',
            "echo 'host all all samenet scram-sha-256' >> /tmp/pg/data/pg_hba.conf",
            "exec su postgres -c \"exec $bin/postgres -D /tmp/pg/data -h '*' -k /tmp/pg\"",
          ].join("\n"),
        ],
      },
    ],
  });

onNode("The chart's inventory and provision service", "e2e-chart-parts", (namespace) => {
  const values = (more: object): object => ({ ...valuesFor(), ...more });
  const install = (more: object) =>
    helm(["upgrade", "--install", "agent", CHART, "-n", namespace, "--wait", "--timeout=100s"], values(more));
  const json = async <T>(...args: readonly string[]): Promise<T> =>
    JSON.parse((await kubectl([...args, "-n", namespace, "-o", "json"])).stdout) as T;
  const trawl = async (...args: readonly string[]): Promise<string> => {
    const command = ["trawl", "inventory", ...args, "--config", "/etc/trawler/inventory.yaml"];
    return (await kubectl(["exec", "-n", namespace, `deployment/${inventory}`, "--", ...command])).stdout;
  };
  const deleted = async (name: string): Promise<Answer> =>
    JSON.parse(await trawl("query", "--deleted", "-n", namespace, "--name", name, "-o", "json")) as Answer;
  /** Makes a pod, deletes it by force, and waits until it can be asked for. */
  const come = async (name: string): Promise<void> => {
    await apply(pod(namespace, name, { spec: { schedulerName: "none" } }));
    await kubectl(["delete", "pod", name, "-n", namespace, "--force", "--grace-period=0"]);
    const found = await waitFor(
      `the record of ${name}`,
      async () => {
        const answer = await deleted(name).catch(() => null);
        return answer !== null && answer.records.length > 0 && answer;
      },
      PATIENCE,
    );
    expect(found).toMatchObject({
      complete: true,
      records: [{ name, end: { evidence: "watch", finalState: "exact" } }],
    });
  };

  beforeAll(async () => {
    await Promise.all([buildImage(), importApplications()]);
    await Promise.all([
      makeSecret(namespace, "kafka"),
      makeSecret(namespace, "token", { token: "s3cret-of-the-service" }),
      apply(postgresql(namespace)),
    ]);
    await podReady(namespace, "postgresql");
  }, 900_000);
  afterAll(async () => {
    await helm(["uninstall", "agent", "-n", namespace, "--ignore-not-found"], undefined, { tolerate: true });
  });

  describe("rendering", () => {
    const render = (more: object) => helm(["template", "agent", CHART, "-n", namespace], values(more));
    const refusal = async (more: object): Promise<string> => {
      const { code, stderr } = await helm(["template", "agent", CHART], values(more), { tolerate: true });
      expect(code).not.toBe(0);
      return stderr;
    };

    test("the API server takes all options together", async () => {
      const { stdout } = await render({
        inventory: {
          enabled: true,
          replicas: 2,
          kinds: [{ apiVersion: "apps/v1", resource: "statefulsets", kind: "StatefulSet" }],
          records: { topic: "records", createTopic: true },
          store: { kind: "postgresql", secretName: "store", passwordKey: "password", tls: { enabled: true } },
        },
        provision: {
          enabled: true,
          token: { secretName: "token" },
          tls: { secretName: "tls" },
          templates: { configMapName: "templates", inline: false },
          roles: [{ namespace, name: "edit" }],
        },
      });
      const args = ["apply", "--dry-run=server", "--validate=strict", "-o", "name", "-f", "-"];
      const names = (await kubectl(args, stdout)).stdout;
      for (const name of [`deployment.apps/${inventory}`, `deployment.apps/${provision}`, `${provision}-0`]) {
        expect(names).toContain(name);
      }
    });

    test("neither is there unless it is asked for", async () => {
      const { stdout } = await render({});
      expect(stdout).not.toContain("kind: Deployment");
    });

    test("wrong values are refused with their place", async () => {
      expect(await refusal({ inventory: { enabled: true, replicas: 2 } })).toContain("/inventory/store/kind");
      expect(await refusal({ inventory: { enabled: true, store: { kind: "postgresql" } } })).toContain("secretName");
      expect(await refusal({ provision: { enabled: true } })).toContain("/provision/token/secretName");
    });
  });

  test("the inventory with SQLite sees a deleted pod, and may list and watch and no more", {
    timeout: 240_000,
  }, async () => {
    await install({ inventory: { enabled: true, frames: false, state: { persistent: false, size: "1Gi" } } });
    await come("gone");
    const rights = ["auth", "can-i", "--list", "-n", namespace];
    const { stdout } = await kubectl([...rights, "--as", `system:serviceaccount:${namespace}:${inventory}`]);
    const pods = stdout.split("\n").filter((line) => line.startsWith("pods "));
    expect(pods).toHaveLength(1);
    expect(pods[0]).toContain("[list watch]");
    expect(stdout).not.toMatch(/^secrets /m);
    expect(stdout).not.toMatch(/^leases/m);
  });

  test("with PostgreSQL two replicas share it: the standby takes over from a leader that is killed, without a gap", {
    timeout: 300_000,
  }, async () => {
    const { status } = await json<{ status: { podIP: string } }>("get", "pod", "postgresql");
    await makeSecret(namespace, "store", {
      url: `postgresql://trawler:s3cret-of-the-store@${status.podIP}:5432/postgres`,
    });
    await install({
      inventory: { enabled: true, replicas: 2, frames: false, store: { kind: "postgresql", secretName: "store" } },
      provision: { enabled: true, token: { secretName: "token" }, state: { persistent: false } },
    });
    const leader = async (): Promise<string> => {
      const { spec } = await json<{ spec: { holderIdentity?: string } }>("get", "lease", inventory);
      return spec.holderIdentity?.split("_")[0] ?? "";
    };
    await come("before");
    const first = await leader();
    await kubectl(["delete", "pod", first, "-n", namespace, "--force", "--grace-period=0"]);
    // While nobody leads.
    await apply(pod(namespace, "between", { spec: { schedulerName: "none" } }));
    await kubectl(["delete", "pod", "between", "-n", namespace, "--force", "--grace-period=0"]);
    const second = await waitFor(
      "the standby to lead",
      async () => {
        const name = await leader();
        return name !== first && name !== "" && name;
      },
      PATIENCE,
    );
    expect(second).not.toBe(first);
    await come("after");
    for (const name of ["before", "between", "after"]) expect((await deleted(name)).records).toHaveLength(1);
    expect(JSON.parse(await trawl("gaps", "-o", "json"))).toEqual([]);
    // Whatever reads: every command asks PostgreSQL.
    const [uid = ""] = (await deleted("between")).records.map((record) => record.uid);
    expect(JSON.parse(await trawl("show", uid, "-o", "json"))).toMatchObject([
      { name: "between", resourceVersion: expect.any(String) },
    ]);
    expect(await trawl("changes", "--limit", "3")).toMatch(/^(\{"cursor":"[0-9a-f]{8}-\d+".*\n){3}$/);
    expect(await trawl("purge", "--dry-run")).toContain("0 records of gone objects");
    const { stdout: log } = await kubectl(["logs", "-n", namespace, second]);
    expect(log).not.toContain("s3cret");
  });

  test("the provision service answers who has the token, and may do nothing by itself", async () => {
    const selector = ["-l", "app.kubernetes.io/name=trawler-provision"];
    const { items } = await json<{ items: { status: { podIP: string } }[] }>("get", "pods", ...selector);
    const at = `http://${items[0]?.status.podIP}:9469`;
    const ask = (headers: Readonly<Record<string, string>>) =>
      fetch(`${at}/v1/instances`, { headers, signal: AbortSignal.timeout(10_000) });
    expect((await ask({})).status).toBe(401);
    expect((await ask({ authorization: "Bearer s3cret-of-the-service" })).status).toBe(200);
    const account = ["--as", `system:serviceaccount:${namespace}:${provision}`];
    const may = await kubectl(["auth", "can-i", "create", "configmaps", "-n", namespace, ...account], undefined, {
      tolerate: true,
    });
    expect(may.stdout.trim()).toBe("no");
  });
});
