import { afterAll, beforeAll, describe } from "vitest";
import { openAnyStore } from "../src/index.ts";
import { queryContract } from "./contract/query.ts";
import { randomContract } from "./contract/random.ts";
import { recordsContract } from "./contract/records.ts";
import { type Ledger, makeLedger } from "./harness.ts";
import { type PostgresqlServer, postgresqlUnsupported, startPostgresql } from "./postgresql.ts";

const unsupported = postgresqlUnsupported();

describe.skipIf(unsupported !== null)(`a real PostgreSQL${unsupported === null ? "" : `: ${unsupported}`}`, () => {
  let server: PostgresqlServer;
  let schemas = 0;
  beforeAll(async () => {
    server = await startPostgresql();
  }, 600_000);
  afterAll(() => server.remove());

  const open = (): Promise<Ledger> => {
    schemas += 1;
    const target = { url: server.url(), schema: `book_${schemas}` };
    return makeLedger(
      () => openAnyStore(target, "test", 0),
      () => {},
    );
  };

  recordsContract(open);
  queryContract(open);
  randomContract(open, 1);
});
