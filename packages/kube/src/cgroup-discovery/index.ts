export { type CgroupName, parseCgroupName } from "./names.ts";
export { runtimePodOf } from "./runtime-pod.ts";
export { type CgroupTree, findPodCgroups, firstPid, type PodCgroup } from "./tree.ts";
