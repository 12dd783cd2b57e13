export { openHostCgroup, parseHostCpu, parseHostMemory, parseHostPids } from "./host.ts";
