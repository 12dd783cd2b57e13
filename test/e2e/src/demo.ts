import { parseArgs } from "node:util";
import type { Frame } from "@trawler/plugin-api";
import { readTestbedState, testbedDown, testbedUnsupported, testbedUp } from "@trawler/testbed";
import { Agent } from "./agent.ts";
import { makeTopic, TopicReader } from "./kafka.ts";
import { nginx, pod, redis } from "./manifests.ts";
import { apply, makeNamespace, node, podReady, removeNamespace } from "./node.ts";
import { waitFor } from "./wait.ts";

const namespace = "shop";
/** The shop's web server, with the status page that its crawler reads. */
const STATUS =
  "daemon off; error_log stderr; pid /tmp/nginx.pid; events {} http { access_log off; server { listen 80; location /stub_status { stub_status; } } }";
const say = (text: string) => console.error(`demo       ${text}`);

const { values } = parseArgs({
  options: { frames: { type: "string" }, keep: { type: "boolean" }, help: { type: "boolean", short: "h" } },
});
if (values.help) {
  console.log(`npm run demo [-- --frames N] [-- --keep]

Brings up a real Kubernetes node and a Kafka broker, starts a small shop (redis and nginx), runs the agent and shows the
frames as they arrive in Kafka, until Ctrl-C or N frames. The node is taken down at the end if it was not up before;
--keep leaves it up.`);
  process.exit(0);
}

const reason = testbedUnsupported();
if (reason !== undefined) {
  console.error(`The demo cannot run here: ${reason}. Try npm start, which crawls what is here.`);
  process.exit(1);
}

const wanted = values.frames === undefined ? Number.POSITIVE_INFINITY : Number(values.frames);
const keep = values.keep || readTestbedState() !== undefined;
await testbedUp();
try {
  say("starting the shop: redis and nginx in namespace shop");
  await makeNamespace(namespace);
  await apply(
    pod(namespace, "cart-0", { labels: { app: "cart" }, annotations: { team: "data" }, containers: [redis()] }),
    pod(namespace, "web-0", { labels: { app: "web" }, containers: [nginx(STATUS)] }),
  );
  await Promise.all([podReady(namespace, "cart-0"), podReady(namespace, "web-0")]);

  const topic = `trawler.demo-${Date.now()}`;
  const { brokers } = node().kafka;
  await makeTopic(topic);
  await using agent = await Agent.start({ every: "5s", emitters: { kafka: { brokers, topic } } });
  say(`the agent runs as process ${agent.pid}; frames in topic ${topic} at ${brokers.join(", ")} (Ctrl-C ends)`);
  await using reader = await TopicReader.open(topic);
  await show(reader);
} finally {
  await removeNamespace(namespace);
  if (!keep) await testbedDown();
  else say("the node stays up: npm run testbed -- down takes it down");
}

async function show(reader: TopicReader): Promise<void> {
  let shown = 0;
  let stopped = false;
  process.once("SIGINT", () => {
    stopped = true;
  });
  while (!stopped && shown < wanted) {
    await waitFor("the next frame", () => stopped || reader.records.length > shown, 60_000);
    for (; shown < Math.min(reader.records.length, wanted); shown++) {
      const record = reader.records[shown];
      if (record) console.log(line(record.partition, JSON.parse(record.value) as Frame, record.value.length));
    }
  }
}

function line(partition: number, frame: Frame, size: number): string {
  const name = `${frame.resource["k8s.namespace.name"]}/${frame.resource["k8s.pod.name"]}`;
  const types = new Set([frame, ...frame.containers].flatMap(({ features }) => features.map(({ type }) => type)));
  const application = frame.containers
    .flatMap(({ features }) => features)
    .find(({ type }) => type === "redis" || type === "nginx")?.value as Record<string, unknown> | undefined;
  const detail = application
    ? [application["product"], application["version"], application["state"]].filter(Boolean).join(" ")
    : "";
  return [
    frame.time.slice(11, 23),
    `partition ${partition}`,
    frame.reason.padEnd(8),
    `#${frame.sequence}`.padEnd(4),
    name.padEnd(14),
    `${frame.resource["k8s.pod.ip"]}`.padEnd(12),
    `${(size / 1024).toFixed(1)} KiB`.padStart(9),
    [...types].join(" "),
    detail && `(${detail})`,
  ].join("  ");
}
