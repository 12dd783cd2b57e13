export { ContainerReader } from "./container-reader.ts";
export { NodeReader } from "./node-reader.ts";
export { isNodeNetwork, openNetwork, type SubjectNetwork } from "./subject-network.ts";
