import { queryContract } from "./contract/query.ts";
import { randomContract } from "./contract/random.ts";
import { recordsContract } from "./contract/records.ts";
import { sqliteLedger } from "./harness.ts";

recordsContract(sqliteLedger);
queryContract(sqliteLedger);
randomContract(sqliteLedger, 4);
