import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { get } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { kubectl } from "@trawler/testbed";
import { afterEach, beforeEach, expect, test } from "vitest";
import { faultProxy, holdAnswers } from "../src/fault-proxy.ts";
import { makeTopic, TopicReader } from "../src/kafka.ts";
import { node } from "../src/node.ts";
import { configMap, invalid, namesOf, objectOf, states } from "../src/provision.ts";
import { ProvisionService, WebhookReceiver } from "../src/provision-service.ts";
import { onNode } from "../src/suite.ts";
import { waitFor } from "../src/wait.ts";

onNode("provisioning as a task", "e2e-provision-serve", (namespace) => {
  let service: ProvisionService;
  beforeEach(async () => {
    service = await ProvisionService.open(namespace);
  });
  afterEach(async () => {
    await service[Symbol.asyncDispose]();
    await kubectl(["delete", "configmaps,secrets", "--all", "-n", namespace, "--wait=false"]);
  });

  /** `apply --detach`; the whole of stdout is the instance's id. */
  const detach = async (objects: readonly object[], ...more: readonly string[]): Promise<string> => {
    const file = await service.provisioner.template(objects);
    const done = await service.run(["apply", "-f", file, "-n", namespace, "--detach", ...more]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toMatch(/^[0-9a-z]{26}\n$/);
    return done.stdout.trim();
  };
  const status = (instance: string) => service.run(["status", instance, "-o", "json"]);
  const ended = (instance: string) =>
    waitFor(
      `the end of ${instance}`,
      async () => {
        const done = await status(instance);
        return done.report.endedAt !== null && done;
      },
      60_000,
    );

  test("P30: detach prints the id at once; logs follow it to its end, which webhook and topic are told of once, signed", async () => {
    await using receiver = await WebhookReceiver.open();
    const topic = `provision-${Date.now()}`;
    await makeTopic(topic);
    const secretFile = join(service.provisioner.folder, "webhook-secret");
    await writeFile(secretFile, "a secret of the webhook\n");
    const kafka = [
      "--set",
      `notify.kafka.brokers=${JSON.stringify(node().kafka.brokers)}`,
      "--set",
      `notify.kafka.topic=${topic}`,
    ];
    await service.start({}, "--webhook", receiver.url, "--webhook-secret-file", secretFile, ...kafka);
    const instance = await detach([configMap("a"), configMap("b")], "--until", "ready");
    const logs = await service.run(["logs", "--follow", instance]);
    expect([logs.code, logs.stdout.trim().split("\n").at(-1)]).toEqual([0, expect.stringMatching(/ SUCCEEDED$/)]);
    const done = await status(instance);
    expect([done.code, done.report.state, states(done)]).toEqual([
      0,
      "SUCCEEDED",
      ["ConfigMap a: created", "ConfigMap b: created"],
    ]);
    expect((await objectOf("configmap", namespace, "a"))?.metadata.uid).toBe(done.report.objects[0]?.uid);
    await using reader = await TopicReader.open(topic);
    await waitFor("both to be told", () => receiver.received.length > 0 && reader.records.length > 0);
    const [told] = receiver.received;
    const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature } = told?.headers ?? {};
    const hmac = createHmac("sha256", "a secret of the webhook").update(`${id}.${time}.${told?.body}`).digest("base64");
    expect(signature).toBe(`v1,${hmac}`);
    expect(JSON.parse(told?.body ?? "")).toMatchObject({
      id,
      instance,
      state: "SUCCEEDED",
      objects: [{ name: "a" }, { name: "b" }],
    });
    expect(reader.records).toMatchObject([
      { key: instance, value: told?.body, headers: { "trawler-notification-id": id } },
    ]);
    const list = await service.run(["list"]);
    expect(list.stdout).toMatch(new RegExp(`${instance} +SUCCEEDED +e2e +${namespace} +2 `));
  });

  test("P30: kill -9 in the middle, and between the end and its notification: done once, told with one id", async () => {
    await using receiver = await WebhookReceiver.open();
    receiver.status = null;
    const held = holdAnswers(({ creates, name }) => creates && name === "b");
    await using proxy = await faultProxy(held.rule);
    const generated = { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "made-" } };
    await service.start({ server: proxy.url }, "--webhook", receiver.url);
    const instance = await detach([generated, configMap("a"), configMap("b"), configMap("c")], "--parallel", "1");
    await held.reached;
    await service.stop("SIGKILL");
    held.pass();
    const made = await objectOf("configmap", namespace, "b");
    await service.start({ server: proxy.url }, "--webhook", receiver.url);
    const done = await ended(instance);
    expect([done.code, done.report.state]).toEqual([0, "SUCCEEDED"]);
    expect(done.report.objects[2]?.uid).toBe(made?.metadata.uid);
    expect(await namesOf("configmap", namespace)).toHaveLength(4);
    await waitFor("the receiver to be told", () => receiver.received.length > 0);
    await service.stop("SIGKILL");
    receiver.status = 500;
    await service.start({ server: proxy.url }, "--webhook", receiver.url);
    const refused = receiver.received.length;
    await waitFor("it to be told again", () => receiver.received.length > refused);
    receiver.status = 204;
    const before = receiver.received.length;
    await waitFor("it to be told once more", () => receiver.received.length > before);
    expect(receiver.ids.size).toBe(1);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    await waitFor("the outbox to be empty", async () => {
      const answer = await fetch(`${service.url}/metrics`);
      return (await answer.text()).includes("trawler_provision_notifications_waiting 0");
    });
    expect(proxy.requests.filter(({ creates, name }) => creates && name === "b")).toHaveLength(1);
  });

  test("apply by a service is followed through the death of its process, and ends with the code of the run", async () => {
    const held = holdAnswers(({ creates, name }) => creates && name === "b");
    await using proxy = await faultProxy(held.rule);
    await service.start({ server: proxy.url });
    const { port } = new URL(service.url);
    const file = await service.provisioner.template([configMap("a"), configMap("b"), configMap("c")]);
    const applied = service.run(["apply", "-f", file, "-n", namespace, "--parallel", "1", "-o", "json"]);
    await held.reached;
    await service.stop("SIGKILL");
    held.pass();
    await service.start({ server: proxy.url }, "--port", port);
    const done = await applied;
    expect([done.code, done.report.state]).toEqual([0, "SUCCEEDED"]);
    expect(states(done)).toEqual(["ConfigMap a: created", "ConfigMap b: created", "ConfigMap c: created"]);
    const created = done.stderr.split("\n").filter((line) => line.endsWith(" created"));
    expect(created.map((line) => line.split("/")[1])).toEqual(["a created", "b created", "c created"]);
    const wrong = await service.provisioner.template([configMap("d"), invalid("e")]);
    const failed = await service.run(["apply", "-f", wrong, "-n", namespace, "--no-dry-run", "--parallel", "1"]);
    expect([failed.code, failed.stdout]).toEqual([1, expect.stringMatching(/^FAILED /)]);
  });

  test("SIGTERM leaves a run as it is: nothing is undone, the next process goes on", async () => {
    const held = holdAnswers(({ creates, name }) => creates && name === "b");
    await using proxy = await faultProxy(held.rule);
    await service.start({ server: proxy.url });
    const instance = await detach([configMap("a"), configMap("b"), configMap("c")], "--parallel", "1");
    await held.reached;
    expect(await service.stop("SIGTERM")).toBe(0);
    held.pass();
    expect(proxy.requests.filter(({ method }) => method === "DELETE")).toEqual([]);
    await service.start({ server: proxy.url });
    const done = await ended(instance);
    expect([done.code, done.report.state]).toEqual([0, "SUCCEEDED"]);
    expect(await namesOf("configmap", namespace)).toEqual(["a", "b", "c"]);
  });

  test("cancel, rollback and retire by the service: what they print and how they end is that of the commands themselves", async () => {
    const go = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    await using proxy = await faultProxy(({ creates, name }) => {
      if (!creates || name !== "slow") return undefined;
      reached.resolve();
      return { after: () => go.promise };
    });
    await service.start({ server: proxy.url });
    const first = await detach([configMap("a"), configMap("slow"), configMap("z")], "--parallel", "1");
    await reached.promise;
    const taken = await service.run(["rollback", first]);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining("at work")]);
    const headers = { authorization: `Bearer ${service.token}` };
    const asked = await fetch(`${service.url}/v1/instances/${first}/cancel`, { method: "POST", headers });
    expect(asked.status).toBe(202);
    go.resolve();
    const cancelled = await service.run(["cancel", first, "-o", "json"]);
    expect([cancelled.code, cancelled.report.state, cancelled.report.headline]).toEqual([1, "FAILED", "cancelled"]);
    expect(await namesOf("configmap", namespace)).toEqual([]);
    const second = await detach(
      [configMap("a"), invalid("b")],
      "--no-dry-run",
      "--rollback",
      "never",
      "--parallel",
      "1",
    );
    expect((await ended(second)).report.state).toBe("PARTIAL");
    const undone = await service.run(["rollback", second.slice(0, 20)]);
    expect([undone.code, undone.stdout]).toEqual([1, expect.stringContaining("nothing of this run is left")]);
    const third = await detach([configMap("c")]);
    await ended(third);
    const retired = await service.run(["retire", third, "-o", "json"]);
    expect([retired.code, retired.report.state]).toEqual([0, "RETIRED"]);
    expect(await namesOf("configmap", namespace)).toEqual([]);
  });

  test("refused before anything is created: exit 3, by faults of the template here and by the cluster there", async () => {
    await service.start();
    const apply = async (objects: readonly object[], ...more: readonly string[]) =>
      service.run(["apply", "-f", await service.provisioner.template(objects), "-n", namespace, "--detach", ...more]);
    const unknown = await apply([configMap("${NOPE}")]);
    expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining("NOPE")]);
    const judged = await apply([configMap("a"), invalid("b")]);
    expect([judged.code, judged.stdout, judged.stderr]).toEqual([3, "", expect.stringContaining("not a key")]);
    expect((await service.run(["list", "-o", "json"])).stdout).toBe("[]\n");
  });

  test("without its token nothing: 401, and a command that says what is missing; over TLS with events to follow", async () => {
    const [certificate, key] = ["tls.crt", "tls.key"].map((name) => join(service.provisioner.folder, name));
    const subject = ["-subj", "/CN=provision", "-addext", "subjectAltName=IP:127.0.0.1"];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"];
    const files = ["-keyout", key ?? "", "-out", certificate ?? ""];
    execFileSync("openssl", ["req", "-x509", ...curve, "-nodes", "-days", "2", ...subject, ...files], {
      stdio: "ignore",
    });
    await service.start({}, "--tls-certificate", certificate ?? "", "--tls-key", key ?? "");
    expect(service.url).toMatch(/^https:/);
    const ca = { TRAWLER_PROVISION_CA: certificate ?? "" };
    const untrusted = await service.run(["list", "--token-file", service.tokenFile], {});
    expect([untrusted.code, untrusted.stderr]).toEqual([1, expect.stringContaining("is not trusted")]);
    const missing = await service.run(["list"], { ...ca, TRAWLER_PROVISION_TOKEN_FILE: "" });
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("asks for a token")]);
    const wrong = await service.run(["list"], {
      ...ca,
      TRAWLER_PROVISION_TOKEN_FILE: "",
      TRAWLER_PROVISION_TOKEN: "wrong-token-0123456789",
    });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("does not take this token")]);
    const file = await service.provisioner.template([configMap("a")]);
    const applied = await service.run(["apply", "-f", file, "-n", namespace, "--detach"], ca);
    expect(applied.code).toBe(0);
    const followed = await service.run(["logs", "--follow", applied.stdout.trim()], ca);
    expect([followed.code, followed.stdout]).toEqual([
      0,
      expect.stringContaining("ConfigMap e2e-provision-serve/a: created"),
    ]);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const headers = { authorization: `Bearer ${service.token}`, "last-event-id": "2" };
    const events = `${service.url}/v1/instances/${applied.stdout.trim()}/events`;
    get(
      events,
      { ca: await readFile(certificate ?? "", "utf8"), headers },
      (response) => void text(response).then(resolve),
    ).on("error", reject);
    const rest = (await promise).match(/event: \w+/g);
    expect(rest).toEqual(["event: object", "event: state", "event: end"]);
    expect(service.stderr).not.toContain(service.token);
  });
});
