import { readTestbedState, testbedDown, testbedUnsupported, testbedUp } from "@trawler/testbed";

/**
 * Brings the real node up for all files of this tier, in the secure profile: what runs in it has tokens, and rights count. It is taken down at the end only if it was not up before, so that
 * a developer's testbed survives; `TRAWLER_TESTBED_KEEP=1` leaves it up.
 */
export default async function setup(): Promise<(() => Promise<void>) | undefined> {
  const reason = testbedUnsupported();
  if (reason !== undefined) {
    console.warn(`end-to-end tests are skipped: ${reason}`);
    return undefined;
  }
  const keep = readTestbedState() !== undefined || process.env["TRAWLER_TESTBED_KEEP"] === "1";
  await testbedUp({ brokers: 1, secure: true });
  return keep ? undefined : () => testbedDown();
}
