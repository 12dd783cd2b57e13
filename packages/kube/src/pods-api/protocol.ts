/**
 * The part of the kubelet's Pods API that is used, with the field numbers of `api.proto` in module k8s.io/kubelet v0.37
 * and of the `generated.proto` files of k8s.io/api/core/v1 and k8s.io/apimachinery. The protocol's `bytes pods` hold a
 * v1.Pod each, which on the wire is the same as a nested message.
 */
export const PODS_API_PROTO: string = `
syntax = "proto3";
package v1alpha1;

service Pods {
  rpc ListPods(ListPodsRequest) returns (ListPodsResponse);
  rpc WatchPods(WatchPodsRequest) returns (stream WatchPodsEvent);
}
enum EventType {
  UNSPECIFIED = 0;
  ADDED = 1;
  MODIFIED = 2;
  DELETED = 3;
  INITIAL_SYNC_COMPLETE = 4;
}
message WatchPodsRequest {}
message ListPodsRequest {}
message WatchPodsEvent {
  EventType type = 1;
  Pod pod = 2;
}
message ListPodsResponse {
  repeated Pod pods = 1;
}
message Pod {
  ObjectMeta metadata = 1;
  PodSpec spec = 2;
  PodStatus status = 3;
}
message Time {
  int64 seconds = 1;
  int32 nanos = 2;
}
message Quantity {
  string string = 1;
}
message ObjectMeta {
  string name = 1;
  string namespace = 3;
  string uid = 5;
  string resourceVersion = 6;
  int64 generation = 7;
  Time creationTimestamp = 8;
  Time deletionTimestamp = 9;
  map<string, string> labels = 11;
  map<string, string> annotations = 12;
  repeated OwnerReference ownerReferences = 13;
}
message OwnerReference {
  string kind = 1;
  string name = 3;
  string uid = 4;
  string apiVersion = 5;
  bool controller = 6;
}
message PodSpec {
  repeated Volume volumes = 1;
  repeated Container containers = 2;
  string restartPolicy = 3;
  string serviceAccountName = 8;
  string nodeName = 10;
  bool hostNetwork = 11;
  repeated Container initContainers = 20;
  repeated EphemeralContainer ephemeralContainers = 34;
}
message Container {
  string name = 1;
  string image = 2;
  repeated EnvVar env = 7;
  ResourceRequirements resources = 8;
  string restartPolicy = 24;
}
message EphemeralContainer {
  Container ephemeralContainerCommon = 1;
}
message EnvVar {
  string name = 1;
  EnvVarSource valueFrom = 3;
}
message EnvVarSource {
  ObjectFieldSelector fieldRef = 1;
}
message ObjectFieldSelector {
  string apiVersion = 1;
  string fieldPath = 2;
}
message ResourceRequirements {
  map<string, Quantity> limits = 1;
  map<string, Quantity> requests = 2;
}
message Volume {
  string name = 1;
  VolumeSource volumeSource = 2;
}
message VolumeSource {
  DownwardAPIVolumeSource downwardAPI = 16;
  ProjectedVolumeSource projected = 26;
}
message DownwardAPIVolumeSource {
  repeated DownwardAPIVolumeFile items = 1;
}
message DownwardAPIVolumeFile {
  string path = 1;
  ObjectFieldSelector fieldRef = 2;
}
message ProjectedVolumeSource {
  repeated VolumeProjection sources = 1;
}
message VolumeProjection {
  DownwardAPIVolumeSource downwardAPI = 2;
}
message PodStatus {
  string phase = 1;
  repeated PodCondition conditions = 2;
  string reason = 4;
  string hostIP = 5;
  string podIP = 6;
  Time startTime = 7;
  repeated ContainerStatus containerStatuses = 8;
  string qosClass = 9;
  repeated ContainerStatus initContainerStatuses = 10;
  repeated PodIP podIPs = 12;
  repeated ContainerStatus ephemeralContainerStatuses = 13;
  repeated PodIP hostIPs = 16;
}
message PodIP {
  string ip = 1;
}
message PodCondition {
  string type = 1;
  string status = 2;
  Time lastTransitionTime = 4;
  string reason = 5;
}
message ContainerStatus {
  string name = 1;
  ContainerState state = 2;
  ContainerState lastState = 3;
  bool ready = 4;
  int32 restartCount = 5;
  string image = 6;
  string imageID = 7;
  string containerID = 8;
  bool started = 9;
  ResourceRequirements resources = 11;
}
message ContainerState {
  ContainerStateWaiting waiting = 1;
  ContainerStateRunning running = 2;
  ContainerStateTerminated terminated = 3;
}
message ContainerStateWaiting {
  string reason = 1;
}
message ContainerStateRunning {
  Time startedAt = 1;
}
message ContainerStateTerminated {
  int32 exitCode = 1;
  string reason = 3;
  Time startedAt = 5;
  Time finishedAt = 6;
  string containerID = 7;
}
`;
