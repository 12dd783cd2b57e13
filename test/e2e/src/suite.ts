import { testbedUnsupported } from "@trawler/testbed";
import { afterAll, beforeAll, describe } from "vitest";
import { makeNamespace, removeNamespace } from "./node.ts";

/** Tests on the real node, in a namespace of their own; skipped with the platform's reason where there is none. */
export function onNode(name: string, namespace: string, body: (namespace: string) => void): void {
  const reason = testbedUnsupported();
  describe.skipIf(reason !== undefined)(reason === undefined ? name : `${name} (skipped: ${reason})`, () => {
    beforeAll(() => makeNamespace(namespace));
    afterAll(() => removeNamespace(namespace));
    body(namespace);
  });
}
