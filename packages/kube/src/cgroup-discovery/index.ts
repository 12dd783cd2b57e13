export { type PodCgroup, runtimePodOf } from "./runtime-pod.ts";
