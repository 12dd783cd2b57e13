export { formatRules, missingRights, type Right, rightsFor } from "./collector/access.ts";
export {
  type Collector,
  type CollectorOptions,
  type CollectorStatus,
  openCollector,
  STORE_FILE,
} from "./collector/collector.ts";
export { checkCluster } from "./collector/identity.ts";
export { BUILT_IN_KINDS, type KindName, type KindSpec, kindSpec } from "./collector/kinds.ts";
export type { LagObserver } from "./collector/lag.ts";
export type { KindStatus, ReflectorTuning } from "./collector/reader.ts";
export type { RefreshTarget } from "./collector/refresh.ts";
export { type StoredSkew, storedSkew } from "./collector/skew.ts";
export type * from "./events.ts";
export { createFramesReader, type FramesReader } from "./frames/consume.ts";
export { type Lead, type LeaseOptions, leadByLease } from "./lease/lead.ts";
export { openQueue, type QueueOptions } from "./queue/open.ts";
export type * from "./queue/queue.ts";
export type * from "./record.ts";
export { openStore } from "./store/open.ts";
export { type PostgresqlSettings, parsePostgresqlUrl } from "./store/postgresql/settings.ts";
export { openStoreReader } from "./store/reader.ts";
export type * from "./store/store.ts";
export { openAnyReader, openAnyStore, type StoreTarget } from "./store/target.ts";
export { type KafkaSettings, makeKafka } from "./topic/kafka.ts";
export { createPublisher, type Publisher } from "./topic/publish.ts";
export { openWriter } from "./writer/open.ts";
export type * from "./writer.ts";
