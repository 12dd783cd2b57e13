import type { CrawlContext } from "@trawler/plugin-api";
import { fakeClock, fakeContext } from "./fake-host.ts";

/** What the host gives one call of a crawler: always asked, nothing kept from an earlier call, problems dropped. */
export function fakeCrawlContext(overrides: Partial<CrawlContext> = {}): CrawlContext {
  const { fingerprint = null } = overrides;
  return {
    ...fakeContext(),
    clock: fakeClock(),
    state: new Map(),
    asked: "always",
    annotation: null,
    unchanged: (text) => text === fingerprint,
    problem() {},
    ...overrides,
    fingerprint,
  };
}
