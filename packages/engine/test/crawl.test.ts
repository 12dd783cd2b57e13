import { type CrawlerInstance, CrawlMemory, collect, SubjectCrawler } from "@trawler/engine";
import { type Access, type Subject, TrawlerError, unsupported, type Workload } from "@trawler/plugin-api";
import { collectingMetrics, fakeCgroup, fakeContainer, fakeProc, fakeWorkload, silentLog } from "@trawler/testkit";
import { describe, expect, test } from "vitest";
import { crawlerOf, fact, testClock } from "./support.ts";

const never = new AbortController().signal;

function subjectOf(workload: Workload, access: Partial<Access> = {}, member: Partial<Access> = {}): Subject {
  const members = new Map(workload.containers.flatMap(({ id }) => (id === null ? [] : [[id, member] as const])));
  return { access, members, async update() {}, async [Symbol.asyncDispose]() {} };
}

interface Setup {
  readonly workload?: Workload;
  readonly access?: Partial<Access>;
  readonly member?: Partial<Access>;
  readonly hasMembers?: boolean;
  readonly memory?: CrawlMemory;
}

function crawlerFor(crawlers: readonly CrawlerInstance[], hasMembers = true) {
  const metrics = collectingMetrics();
  return {
    metrics,
    crawler: new SubjectCrawler({ crawlers, hasMembers, clock: testClock, log: silentLog, metrics, slot: 1 }),
  };
}

async function crawl(crawlers: readonly CrawlerInstance[], setup: Setup = {}) {
  const { workload = fakeWorkload(), access, member, hasMembers, memory = new CrawlMemory() } = setup;
  const { crawler } = crawlerFor(crawlers, hasMembers);
  const result = await crawler.crawl(workload, subjectOf(workload, access, member), memory, never);
  const id = workload.containers[0]?.id ?? "";
  return { result, member: collect(result.outcomes, id), subject: collect(result.outcomes, "") };
}

function fail(error: Error): readonly unknown[] {
  throw error;
}

const good = crawlerOf(
  async function* () {
    yield fact("good");
  },
  { name: "good" },
);
const keys = (features: readonly { readonly key: string }[]): readonly string[] => features.map(({ key }) => key);

describe("C151: a crawler costs its own feature only", () => {
  test("parity W2, W3, W9: that throws keeps what it had yielded, and its own error is told", async () => {
    const bad = crawlerOf(async function* () {
      yield fact(1, "before");
      throw new TypeError("no dpkg");
    });
    const { member } = await crawl([bad, good]);
    expect(keys(member.features)).toEqual(["before", "fact"]);
    expect(member.problems).toEqual([{ crawler: "probe", code: "failed", message: "crawler probe: no dpkg" }]);
  });

  test("parity W4: that fails for one of three containers costs the other two nothing", async () => {
    const picky = crawlerOf(
      async function* ({ meta }) {
        if (meta.container?.id === "errorid") throw new TypeError("no system");
        yield fact(1, "picky");
      },
      { name: "picky", needs: ["meta"] },
    );
    const ids = ["aaa", "errorid", "ccc"];
    const workload = fakeWorkload({ containers: ids.map((id) => fakeContainer({ id })) });
    const { result } = await crawl([good, picky, { ...good, id: "again" }], { workload });
    const found = ids.map((id) => collect(result.outcomes, id));
    expect(found.map(({ features }) => features.length)).toEqual([3, 2, 3]);
    expect(found.map(({ problems }) => problems.map(({ code }) => code))).toEqual([[], ["failed"], []]);
  });

  test("parity N3: that never returns", async () => {
    const bad = crawlerOf(
      async function* () {
        await new Promise(() => {});
      },
      { timeout: 10 },
    );
    const { member } = await crawl([bad, good]);
    expect(keys(member.features)).toEqual(["fact"]);
    expect(member.problems).toMatchObject([{ crawler: "probe", code: "timeout" }]);
  });

  test("that loops for ever without yielding, and is not entered again while it does", async () => {
    let stop = false;
    let entered = 0;
    const bad = crawlerOf(
      async function* () {
        entered++;
        while (!stop) await new Promise((resolve) => setImmediate(resolve));
      },
      { timeout: 10 },
    );
    const workload = fakeWorkload();
    const { crawler } = crawlerFor([bad, good]);
    const again = () => crawler.crawl(workload, subjectOf(workload), new CrawlMemory(), never);
    const codes = [await again(), await again()].map(({ outcomes }) => outcomes[0]?.problems[0]?.code);
    expect(codes).toEqual(["timeout", "busy"]);
    expect(entered).toBe(1);
    expect(crawler.stuck().get("probe")).toBe(1);
    stop = true;
    await expect.poll(() => crawler.stuck().get("probe")).toBe(0);
  });

  test("that floods with features or problems is cut with `truncated`", async () => {
    const flood = crawlerOf(
      async function* () {
        for (let index = 0; ; index++) yield fact(index, `${index}`);
      },
      { timeout: 5000 },
    );
    const large = crawlerOf(
      async function* () {
        for (let index = 0; ; index++) yield fact("x".repeat(16_000), `${index}`);
      },
      { name: "large", timeout: 5000 },
    );
    const junk = crawlerOf(
      async function* () {
        for (;;) yield { type: "unknown" };
      },
      { name: "junk", timeout: 5000 },
    );
    const noisy = crawlerOf(
      async function* (_, { problem }) {
        for (let index = 0; index < 1000; index++) problem("denied", `file ${index}`);
        yield* [];
      },
      { name: "noisy" },
    );
    const { result } = await crawl([flood, large, junk, noisy, good]);
    const [first, second, third, fourth, last] = result.outcomes;
    expect(first?.features.length).toBe(2500);
    expect(first?.problems).toMatchObject([{ code: "truncated" }]);
    expect(second?.features.length).toBeLessThan(70);
    expect(second?.problems).toMatchObject([{ code: "truncated" }]);
    expect(third?.problems).toMatchObject([{ code: "failed", count: 2500 }, { code: "truncated" }]);
    expect(fourth?.problems.length).toBe(51);
    expect(last?.features.length).toBe(1);
  });

  test("that yields what no frame can hold loses that feature, named, and no other", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const hostile = [Number.NaN, Number.POSITIVE_INFINITY, undefined, () => 1, cycle, [1], Symbol("x")];
    const bad = crawlerOf(async function* () {
      for (const value of hostile) yield fact(value);
      yield null;
      yield "text";
      yield {
        type: "fact",
        key: "getter",
        get value() {
          throw new Error("no");
        },
      };
      yield fact(18_446_744_073_709_551_615n, "bigint");
    });
    const { member } = await crawl([bad, good]);
    expect(keys(member.features)).toEqual(["bigint", "fact"]);
    expect(member.features[0]?.value).toEqual({ value: 18_446_744_073_709_551_615n });
    const lost = member.problems.reduce((sum, { count = 1 }) => sum + count, 0);
    expect(lost).toBe(hostile.length + 3);
    expect(new Set(member.problems.map(({ code }) => code))).toEqual(new Set(["failed"]));
  });

  test("that returns something else than features", async () => {
    const bad = crawlerOf(() => undefined as never);
    const { member } = await crawl([bad, good]);
    expect(keys(member.features)).toEqual(["fact"]);
    expect(member.problems).toMatchObject([{ code: "failed" }]);
  });

  test("and what an abandoned call reports later is in no frame", async () => {
    const late = Promise.withResolvers<void>();
    const bad = crawlerOf(
      async function* (_, { problem }) {
        await late.promise;
        problem("denied", "late");
        yield fact("late");
      },
      { timeout: 5 },
    );
    const { member } = await crawl([bad, good]);
    late.resolve();
    await new Promise((resolve) => setImmediate(resolve));
    expect(keys(member.features)).toEqual(["fact"]);
    expect(member.problems).toHaveLength(1);
  });
});

test("unsupported is silent where nobody asked for the crawler, and a problem where somebody did", async () => {
  const absent = async function* () {
    yield* fail(unsupported("no dpkg"));
  };
  const silent = crawlerOf(absent, { name: "silent" });
  const named = crawlerOf(absent, { name: "named", named: true });
  const matched = crawlerOf(absent, { name: "matched", match: { image: ["app"] } });
  const { member } = await crawl([silent, named, matched]);
  expect(member.problems.map(({ crawler, code }) => [crawler, code])).toEqual([
    ["named", "unsupported"],
    ["matched", "unsupported"],
  ]);
});

test("the codes of errors become those of problems by one table", async () => {
  const codes = ["TRAWLER_DENIED", "TRAWLER_GONE", "TRAWLER_LIMIT", "TRAWLER_UNAVAILABLE", "TRAWLER_REFUSED"] as const;
  const crawlers = codes.map((code) =>
    crawlerOf(
      async function* () {
        yield* fail(new TrawlerError(code, "x"));
      },
      { name: code.toLowerCase().replaceAll("_", "-") },
    ),
  );
  const { member } = await crawl(crawlers);
  expect(member.problems.map(({ code }) => code)).toEqual(["denied", "gone", "truncated", "unavailable", "denied"]);
});

test("scope decides where a crawler runs; without members everything runs on the subject", async () => {
  const level = (scope: "member" | "subject" | "both") =>
    crawlerOf(
      async function* ({ meta }) {
        yield fact(meta.container?.name ?? "-", scope);
      },
      { name: scope, scope, needs: ["meta"] },
    );
  const crawlers = [level("member"), level("subject"), level("both")];
  const withMembers = await crawl(crawlers);
  expect(keys(withMembers.member.features)).toEqual(["member", "both"]);
  expect(keys(withMembers.subject.features)).toEqual(["subject", "both"]);
  const without = await crawl(crawlers, { hasMembers: false, workload: fakeWorkload({ containers: [] }) });
  expect(keys(without.subject.features)).toEqual(["member", "subject", "both"]);
});

test("a crawler gets the capabilities that it declares and no other", async () => {
  const seen: string[][] = [];
  const probe = crawlerOf(
    async function* (access) {
      seen.push(Object.keys(access));
      yield* [];
    },
    { needs: ["cgroup"] },
  );
  await crawl([probe], { member: { cgroup: fakeCgroup({}), proc: fakeProc({}) } });
  await crawl([probe], { member: { proc: fakeProc({}) } });
  expect(seen).toEqual([["cgroup"]]);
});

describe("an application crawler is asked", () => {
  const redis = () => {
    const asked: unknown[] = [];
    const crawler = crawlerOf(
      async function* (_, { asked: why, annotation }) {
        asked.push([why, annotation && { ...annotation }]);
        yield fact(1);
      },
      { name: "redis", match: { image: ["*/redis", "valkey"], process: ["redis-serv*"] } },
    );
    return { asked, crawler };
  };
  const workloadOf = (image: string, annotations: Record<string, string> = {}): Workload =>
    fakeWorkload({ containers: [fakeContainer({ image })], annotations });

  test("by the image's repository, whatever registry, tag and digest", async () => {
    const { asked, crawler } = redis();
    for (const image of [
      "valkey",
      "registry.test:5000/bitnami/redis:7@sha256:00",
      "localhost/library/redis:7",
      "shop/redis-exporter",
    ]) {
      await crawl([crawler], { workload: workloadOf(image) });
    }
    expect(asked).toEqual([
      ["match", null],
      ["match", null],
      ["match", null],
    ]);
  });

  test("by a process's name, with one look at the commands however many crawlers match by it", async () => {
    let looks = 0;
    const proc = {
      ...fakeProc({}),
      commands: async () => {
        looks++;
        return [{ pid: 1, command: "redis-server" }];
      },
    };
    const { asked, crawler } = redis();
    const { crawler: other } = redis();
    const renamed = { ...other, id: "redis/other" };
    await crawl([crawler, renamed], { member: { proc } });
    expect(asked).toEqual([["match", null]]);
    expect(looks).toBe(1);
  });

  test("by an annotation, with its settings; a bad one is a problem and no reason to ask", async () => {
    const { asked, crawler } = redis();
    const own = { "trawler.dev/crawl.redis": '{"port":7000,"__proto__":{"x":1}}' };
    await crawl([crawler], { workload: workloadOf("shop/app", own) });
    expect(asked).toMatchObject([["annotation", { port: 7000 }]]);
    const { result } = await crawl([crawler], {
      workload: workloadOf("shop/app", { "trawler.dev/crawl.redis": "7000" }),
    });
    expect(result.problems).toMatchObject([{ crawler: "redis", code: "failed" }]);
    expect(asked).toHaveLength(1);
  });

  test("by OpenTelemetry's annotations, of whose endpoint only the port counts", async () => {
    const { asked, crawler } = redis();
    const prefix = "io.opentelemetry.discovery.metrics";
    const annotations = {
      [`${prefix}.6379/enabled`]: "true",
      [`${prefix}.6379/scraper`]: "redis",
      [`${prefix}.6379/config`]: 'endpoint: "evil.example.test:7001"\nusername: "metrics"\n',
    };
    await crawl([crawler], { workload: workloadOf("shop/app", annotations) });
    expect(asked).toEqual([["annotation", { port: 7001, username: "metrics" }]]);
  });
});

test("what is kept between crawls is freed when a member goes", async () => {
  const memory = new CrawlMemory();
  const counter = crawlerOf(async function* (_, { state }) {
    state.set("calls", (state.get("calls") ?? 0) + 1);
    yield fact(state.get("calls"));
  });
  const one = fakeWorkload({ containers: [fakeContainer({ id: "one" })] });
  const two = fakeWorkload({ containers: [fakeContainer({ id: "two" })] });
  const values = [];
  for (const workload of [one, one, two, one])
    values.push((await crawl([counter], { workload, memory })).member.features[0]?.value);
  expect(values).toEqual([{ value: 1 }, { value: 2 }, { value: 1 }, { value: 1 }]);
  expect(memory.size).toBe(1);
});

test("a crawler with a period of its own is called once in it", async () => {
  const memory = new CrawlMemory();
  const slow = crawlerOf(
    async function* () {
      yield fact(1);
    },
    { every: 600 },
  );
  const counts = [];
  for (let index = 0; index < 3; index++) counts.push((await crawl([slow], { memory })).member.features.length);
  expect(counts).toEqual([1, 0, 0]);
});
