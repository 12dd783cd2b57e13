import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAnyReader, openAnyStore, type PostgresqlSettings } from "../src/index.ts";
import { type Folder, folder, object } from "./harness.ts";
import { type PostgresqlServer, postgresqlUnsupported, startPostgresql } from "./postgresql.ts";

interface Pair {
  readonly certificate: string;
  readonly key: string;
}

/** A key with its certificate: that of an authority, or of a server or client that one has signed. */
function certify(place: string, name: string, subject: string, by?: Pair): Pair {
  const pair = { certificate: join(place, `${name}.crt`), key: join(place, `${name}.key`) };
  const signed =
    by === undefined ? [] : ["-CA", by.certificate, "-CAkey", by.key, "-addext", `subjectAltName=${subject}`];
  execFileSync(
    "openssl",
    [
      ...["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"],
      ...["-subj", `/CN=${name}`, ...signed, "-keyout", pair.key, "-out", pair.certificate],
    ],
    { stdio: "ignore" },
  );
  chmodSync(pair.certificate, 0o644);
  return pair;
}

function whyNot(): string | null {
  try {
    execFileSync("openssl", ["version"]);
    return postgresqlUnsupported();
  } catch {
    return "openssl is not installed";
  }
}

const unsupported = whyNot();

describe.skipIf(unsupported !== null)(
  `TLS to a real PostgreSQL${unsupported === null ? "" : `: ${unsupported}`}`,
  () => {
    let place: Folder;
    let server: PostgresqlServer;
    let ca: Pair;
    let other: Pair;
    let client: Pair;
    let stranger: Pair;
    let schemas = 0;

    beforeAll(async () => {
      place = folder();
      // The server, which is not us, reads its certificate there.
      chmodSync(place.path, 0o755);
      mkdirSync(place.file("own"), { mode: 0o700 });
      ca = certify(place.path, "ca", "");
      other = certify(place.path, "other", "");
      const own = certify(place.path, "server", "IP:127.0.0.1,DNS:store.example.test", ca);
      client = certify(place.file("own"), "client", "DNS:client", ca);
      stranger = certify(place.file("own"), "stranger", "DNS:client", other);
      server = await startPostgresql({ ...own, clientCa: ca.certificate });
    }, 600_000);
    afterAll(async () => {
      await server.remove();
      place[Symbol.dispose]();
    });

    const target = (tls?: PostgresqlSettings["tls"], host = "127.0.0.1"): PostgresqlSettings => {
      schemas += 1;
      return { url: server.url().replace("127.0.0.1", host), schema: `tls_${schemas}`, tls };
    };
    const refusal = async (settings: PostgresqlSettings): Promise<unknown> => {
      const error: unknown = await openAnyStore(settings, "test", 0).then(
        async (store) => store[Symbol.asyncDispose](),
        (cause: unknown) => cause,
      );
      expect(String(error)).not.toContain("s3cret");
      return error;
    };

    test("a server of the CA that is named, by its address: writer and reader are encrypted", async () => {
      const settings = target({ ca: ca.certificate, ...client });
      await using store = await openAnyStore(settings, "test", 0);
      await store.apply({ queue: "q", events: [{ sequence: 1, event: object("added", "u1", 1) }], token: 0 });
      await using reader = await openAnyReader(settings);
      expect((await reader.status()).live).toBe(1);
    });

    test("its name may be given where the address is another one", async () => {
      const named = { ca: ca.certificate, ...client, serverName: "store.example.test" };
      await using store = await openAnyStore(target(named), "test", 0);
      expect((await store.status()).live).toBe(0);
      expect(await refusal(target({ ...named, serverName: "else.example.test" }))).toMatchObject({
        code: "TRAWLER_UNAVAILABLE",
        message: expect.stringMatching(/postgresql:\/\/trawler@127\.0\.0\.1:\d+\/postgres: .*else\.example\.test/),
      });
      // The name that stands in the address is none of the certificate's.
      expect(await refusal(target({ ca: ca.certificate, ...client }, "localhost"))).toMatchObject({
        code: "TRAWLER_UNAVAILABLE",
        message: expect.stringMatching(/localhost.*altnames/i),
      });
    });

    test("a server of another CA, or of one that is not named, is refused, and nothing is sent to it", async () => {
      for (const tls of [{ ca: other.certificate, ...client }, { ...client }]) {
        expect(await refusal(target(tls))).toMatchObject({
          code: "TRAWLER_UNAVAILABLE",
          message: expect.stringMatching(/certificate/),
        });
      }
    });

    test("without TLS, and with a client certificate that the server does not trust, the server's reason is told", async () => {
      expect(await refusal(target())).toMatchObject({
        code: "TRAWLER_DENIED",
        message: expect.stringMatching(/no pg_hba\.conf entry .* no encryption/),
      });
      for (const tls of [{ ca: ca.certificate }, { ca: ca.certificate, ...stranger }]) {
        expect(await refusal(target(tls))).toMatchObject({
          code: expect.stringMatching(/^TRAWLER_(DENIED|UNAVAILABLE)$/),
          message: expect.stringMatching(/certificate|unknown ca|alert/),
        });
      }
    });

    test("a file that is not there is named", async () => {
      expect(await refusal(target({ ca: place.file("none.crt") }))).toMatchObject({
        code: "TRAWLER_CONFIG_INVALID",
        message: expect.stringContaining("none.crt"),
      });
    });
  },
);
