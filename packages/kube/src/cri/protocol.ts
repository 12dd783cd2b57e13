/**
 * The part of the protocol `runtime.v1` that is used, with the field numbers of `api.proto` in module
 * k8s.io/cri-api v0.37. A text and not a file, so that it also stands in a bundle.
 */
export const CRI_PROTO: string = `
syntax = "proto3";
package runtime.v1;

service RuntimeService {
  rpc Version(VersionRequest) returns (VersionResponse);
  rpc ListPodSandbox(ListPodSandboxRequest) returns (ListPodSandboxResponse);
  rpc PodSandboxStatus(PodSandboxStatusRequest) returns (PodSandboxStatusResponse);
  rpc ListContainers(ListContainersRequest) returns (ListContainersResponse);
  rpc ContainerStatus(ContainerStatusRequest) returns (ContainerStatusResponse);
  rpc ContainerStats(ContainerStatsRequest) returns (ContainerStatsResponse);
  rpc ListPodSandboxStats(ListPodSandboxStatsRequest) returns (ListPodSandboxStatsResponse);
  rpc GetContainerEvents(GetEventsRequest) returns (stream ContainerEventResponse);
}
service ImageService {
  rpc ImageStatus(ImageStatusRequest) returns (ImageStatusResponse);
}
message ImageStatusRequest {
  ImageSpec image = 1;
  bool verbose = 2;
}
message ImageStatusResponse {
  Image image = 1;
  map<string, string> info = 2;
}
message Image {
  string id = 1;
  repeated string repo_tags = 2;
  uint64 size = 4;
}
enum PodSandboxState {
  SANDBOX_READY = 0;
  SANDBOX_NOTREADY = 1;
}
enum ContainerState {
  CONTAINER_CREATED = 0;
  CONTAINER_RUNNING = 1;
  CONTAINER_EXITED = 2;
  CONTAINER_UNKNOWN = 3;
}
enum NamespaceMode {
  POD = 0;
  CONTAINER = 1;
  NODE = 2;
  TARGET = 3;
}
enum ContainerEventType {
  CONTAINER_CREATED_EVENT = 0;
  CONTAINER_STARTED_EVENT = 1;
  CONTAINER_STOPPED_EVENT = 2;
  CONTAINER_DELETED_EVENT = 3;
}
message VersionRequest {
  string version = 1;
}
message VersionResponse {
  string version = 1;
  string runtime_name = 2;
  string runtime_version = 3;
  string runtime_api_version = 4;
}
message PodSandboxMetadata {
  string name = 1;
  string uid = 2;
  string namespace = 3;
  uint32 attempt = 4;
}
message PodSandboxFilter {
  string id = 1;
}
message ListPodSandboxRequest {
  PodSandboxFilter filter = 1;
}
message ListPodSandboxResponse {
  repeated PodSandbox items = 1;
}
message PodSandbox {
  string id = 1;
  PodSandboxMetadata metadata = 2;
  PodSandboxState state = 3;
  int64 created_at = 4;
  map<string, string> labels = 5;
  map<string, string> annotations = 6;
}
message PodSandboxStatusRequest {
  string pod_sandbox_id = 1;
  bool verbose = 2;
}
message PodSandboxStatusResponse {
  PodSandboxStatus status = 1;
  map<string, string> info = 2;
}
message PodSandboxStatus {
  string id = 1;
  PodSandboxMetadata metadata = 2;
  PodSandboxState state = 3;
  int64 created_at = 4;
  PodSandboxNetworkStatus network = 5;
  LinuxPodSandboxStatus linux = 6;
  map<string, string> labels = 7;
  map<string, string> annotations = 8;
}
message PodIP {
  string ip = 1;
}
message PodSandboxNetworkStatus {
  string ip = 1;
  repeated PodIP additional_ips = 2;
}
message LinuxPodSandboxStatus {
  Namespace namespaces = 1;
}
message Namespace {
  NamespaceOption options = 2;
}
message NamespaceOption {
  NamespaceMode network = 1;
  NamespaceMode pid = 2;
  NamespaceMode ipc = 3;
}
message ContainerMetadata {
  string name = 1;
  uint32 attempt = 2;
}
message ImageSpec {
  string image = 1;
  string user_specified_image = 18;
}
message ContainerFilter {
  string id = 1;
  string pod_sandbox_id = 3;
}
message ListContainersRequest {
  ContainerFilter filter = 1;
}
message ListContainersResponse {
  repeated Container containers = 1;
}
message Container {
  string id = 1;
  string pod_sandbox_id = 2;
  ContainerMetadata metadata = 3;
  ImageSpec image = 4;
  string image_ref = 5;
  ContainerState state = 6;
  int64 created_at = 7;
  map<string, string> labels = 8;
  map<string, string> annotations = 9;
}
message ContainerStatusRequest {
  string container_id = 1;
  bool verbose = 2;
}
message ContainerStatusResponse {
  ContainerStatus status = 1;
  map<string, string> info = 2;
}
message ContainerStatus {
  string id = 1;
  ContainerMetadata metadata = 2;
  ContainerState state = 3;
  int64 created_at = 4;
  int64 started_at = 5;
  int64 finished_at = 6;
  int32 exit_code = 7;
  ImageSpec image = 8;
  string image_ref = 9;
  string reason = 10;
  map<string, string> labels = 12;
  map<string, string> annotations = 13;
  string log_path = 15;
}
message UInt64Value {
  uint64 value = 1;
}
message CpuUsage {
  int64 timestamp = 1;
  UInt64Value usage_core_nano_seconds = 2;
}
message MemoryUsage {
  int64 timestamp = 1;
  UInt64Value working_set_bytes = 2;
  UInt64Value usage_bytes = 4;
  UInt64Value rss_bytes = 5;
  UInt64Value page_faults = 6;
  UInt64Value major_page_faults = 7;
}
message FilesystemUsage {
  int64 timestamp = 1;
  UInt64Value used_bytes = 3;
  UInt64Value inodes_used = 4;
}
message ContainerAttributes {
  string id = 1;
  ContainerMetadata metadata = 2;
}
message ContainerStats {
  ContainerAttributes attributes = 1;
  CpuUsage cpu = 2;
  MemoryUsage memory = 3;
  FilesystemUsage writable_layer = 4;
}
message ContainerStatsRequest {
  string container_id = 1;
}
message ContainerStatsResponse {
  ContainerStats stats = 1;
}
message NetworkInterfaceUsage {
  string name = 1;
  UInt64Value rx_bytes = 2;
  UInt64Value rx_errors = 3;
  UInt64Value tx_bytes = 4;
  UInt64Value tx_errors = 5;
}
message NetworkUsage {
  int64 timestamp = 1;
  NetworkInterfaceUsage default_interface = 2;
  repeated NetworkInterfaceUsage interfaces = 3;
}
message ProcessUsage {
  int64 timestamp = 1;
  UInt64Value process_count = 2;
}
message PodSandboxAttributes {
  string id = 1;
  PodSandboxMetadata metadata = 2;
}
message LinuxPodSandboxStats {
  CpuUsage cpu = 1;
  MemoryUsage memory = 2;
  NetworkUsage network = 3;
  ProcessUsage process = 4;
  repeated ContainerStats containers = 5;
}
message PodSandboxStats {
  PodSandboxAttributes attributes = 1;
  LinuxPodSandboxStats linux = 2;
}
message PodSandboxStatsFilter {
  string id = 1;
}
message ListPodSandboxStatsRequest {
  PodSandboxStatsFilter filter = 1;
}
message ListPodSandboxStatsResponse {
  repeated PodSandboxStats stats = 1;
}
message GetEventsRequest {
}
message ContainerEventResponse {
  string container_id = 1;
  ContainerEventType container_event_type = 2;
  int64 created_at = 3;
  PodSandboxStatus pod_sandbox_status = 4;
  repeated ContainerStatus containers_statuses = 5;
}
`;
