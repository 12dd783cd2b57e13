export { type CriClient, openCri } from "./client.ts";
export { type FollowOptions, followRuntime, type RuntimeEvent, type RuntimeIdentity } from "./follow.ts";
export type * as Cri from "./messages.ts";
export { candidateSockets, probeRuntime, RUNTIME_SOCKETS, type SocketOptions } from "./sockets.ts";
