export {
  followKubeletPods,
  listKubeletPods,
  PODS_API_SOCKET,
  type PodsApiHandler,
  type PodsApiOptions,
} from "./follow.ts";
