import { TrawlerError } from "@trawler/plugin-api";
import { describe, expect, it } from "vitest";
import { type DownwardFiles, readDownward } from "../src/downward/reader.ts";
import type { DownwardItem } from "../src/pods/record.ts";

const UID = "9f589f92-e4c7-46e7-ba36-c1651f7d739f";
const VOLUMES = `/var/lib/kubelet/pods/${UID}/volumes`;
const LABELS: DownwardItem = { volume: "info", projected: false, path: "labels", field: "metadata.labels" };

function fake(texts: Readonly<Record<string, string | (() => string)>>): DownwardFiles & { readonly read: string[] } {
  const read: string[] = [];
  return {
    read,
    readText: async (path) => {
      read.push(path);
      const text = texts[path];
      if (text === undefined) throw new TrawlerError("TRAWLER_UNSUPPORTED", `${path} is absent`);
      return typeof text === "string" ? text : text();
    },
    list: async (path) => {
      const below = Object.keys(texts).filter((name) => name.startsWith(`${path}/`));
      return [...new Set(below.map((name) => name.slice(path.length + 1).split("/")[0] ?? ""))];
    },
  };
}

const request = { kubeletRoot: "/var/lib/kubelet", podUid: UID };

describe("a pod's downward API files", () => {
  it("give labels, annotations and single fields where the specification says which is which", async () => {
    const files = fake({
      [`${VOLUMES}/kubernetes.io~downward-api/info/labels`]: 'app="cart"\n',
      [`${VOLUMES}/kubernetes.io~projected/all/deep/notes`]: 'team="data"\n',
      [`${VOLUMES}/kubernetes.io~projected/all/namespace`]: "shop",
    });
    const facts = await readDownward(files, {
      ...request,
      items: [
        LABELS,
        { volume: "all", projected: true, path: "deep/notes", field: "metadata.annotations" },
        { volume: "all", projected: true, path: "namespace", field: "metadata.namespace" },
      ],
    });
    expect({ ...facts.labels }).toEqual({ app: "cart" });
    expect({ ...facts.annotations }).toEqual({ team: "data" });
    expect({ ...facts.fields }).toEqual({ "metadata.namespace": "shop" });
  });

  it("are only `labels` and `annotations` without a specification, and never a token", async () => {
    const files = fake({
      [`${VOLUMES}/kubernetes.io~projected/kube-api-access-x/token`]: "not-a-real-token",
      [`${VOLUMES}/kubernetes.io~projected/kube-api-access-x/namespace`]: "shop",
      [`${VOLUMES}/kubernetes.io~downward-api/info/labels`]: 'app="cart"\n',
      [`${VOLUMES}/kubernetes.io~downward-api/info/name`]: "cart-0",
    });
    const facts = await readDownward(files, { ...request, items: null });
    expect({ ...facts.labels }).toEqual({ app: "cart" });
    expect(facts.annotations).toBeNull();
    expect(files.read.some((path) => path.endsWith("token") || path.endsWith("name"))).toBe(false);
  });

  it("C36: are read again where the swap of links left none for a moment", async () => {
    let times = 0;
    const swap = (): string => {
      times += 1;
      if (times < 3) throw new TrawlerError("TRAWLER_UNSUPPORTED", "absent");
      return 'app="cart"\n';
    };
    const files = fake({ [`${VOLUMES}/kubernetes.io~downward-api/info/labels`]: swap });
    const facts = await readDownward(files, { ...request, items: [LABELS] });
    expect({ ...facts.labels }).toEqual({ app: "cart" });
  });

  it("are left alone where they are no regular files or too large", async () => {
    const refuse = (): string => {
      throw new TrawlerError("TRAWLER_REFUSED", "a FIFO");
    };
    const files = fake({ [`${VOLUMES}/kubernetes.io~downward-api/info/labels`]: refuse });
    expect(await readDownward(files, { ...request, items: [LABELS] })).toMatchObject({ labels: null });
    expect(files.read).toHaveLength(1);
  });

  it.each([
    ["a volume", { ...LABELS, volume: "../../other" }],
    ["a path", { ...LABELS, path: "../../../token" }],
    ["an absolute path", { ...LABELS, path: "/etc/passwd" }],
    ["an empty path", { ...LABELS, path: "" }],
  ])("are not looked for where %s leads elsewhere", async (_what, item) => {
    const files = fake({});
    await readDownward(files, { ...request, items: [item] });
    expect(files.read).toEqual([]);
  });

  it("are not looked for under a UID that is none", async () => {
    const files = fake({});
    await readDownward(files, { ...request, podUid: "../../../etc", items: [LABELS] });
    expect(files.read).toEqual([]);
  });
});
