/** Kinds that OpenShift once served in the group `v1`, and the groups that they live in now. Source: its API reference. */
const LEGACY: Readonly<Record<string, readonly string[]>> = {
  "apps.openshift.io/v1": ["DeploymentConfig"],
  "authorization.openshift.io/v1": [
    "ClusterRole",
    "ClusterRoleBinding",
    "Role",
    "RoleBinding",
    "RoleBindingRestriction",
  ],
  "build.openshift.io/v1": ["Build", "BuildConfig"],
  "image.openshift.io/v1": [
    "Image",
    "ImageStream",
    "ImageStreamImage",
    "ImageStreamImport",
    "ImageStreamMapping",
    "ImageStreamTag",
  ],
  "network.openshift.io/v1": ["ClusterNetwork", "EgressNetworkPolicy", "HostSubnet", "NetNamespace"],
  "oauth.openshift.io/v1": ["OAuthAccessToken", "OAuthAuthorizeToken", "OAuthClient", "OAuthClientAuthorization"],
  "project.openshift.io/v1": ["Project", "ProjectRequest"],
  "quota.openshift.io/v1": ["AppliedClusterResourceQuota", "ClusterResourceQuota"],
  "route.openshift.io/v1": ["Route"],
  "security.openshift.io/v1": ["SecurityContextConstraints"],
  "template.openshift.io/v1": ["BrokerTemplateInstance", "Template", "TemplateInstance"],
  "user.openshift.io/v1": ["Group", "Identity", "User", "UserIdentityMapping"],
};

const GROUP_OF: ReadonlyMap<string, string> = new Map(
  Object.entries(LEGACY).flatMap(([group, kinds]) => kinds.map((kind) => [kind, group] as const)),
);

/** Built-in kinds without a namespace, by group. Source: `kubectl api-resources --namespaced=false`. */
const CLUSTER_SCOPED: ReadonlySet<string> = new Set([
  "/Namespace",
  "/Node",
  "/PersistentVolume",
  "admissionregistration.k8s.io/MutatingWebhookConfiguration",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
  "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
  "admissionregistration.k8s.io/ValidatingWebhookConfiguration",
  "apiextensions.k8s.io/CustomResourceDefinition",
  "apiregistration.k8s.io/APIService",
  "certificates.k8s.io/CertificateSigningRequest",
  "flowcontrol.apiserver.k8s.io/FlowSchema",
  "flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration",
  "networking.k8s.io/IngressClass",
  "node.k8s.io/RuntimeClass",
  "project.openshift.io/Project",
  "project.openshift.io/ProjectRequest",
  "authorization.openshift.io/ClusterRole",
  "authorization.openshift.io/ClusterRoleBinding",
  "rbac.authorization.k8s.io/ClusterRole",
  "rbac.authorization.k8s.io/ClusterRoleBinding",
  "scheduling.k8s.io/PriorityClass",
  "security.openshift.io/SecurityContextConstraints",
  "storage.k8s.io/CSIDriver",
  "storage.k8s.io/StorageClass",
  "storage.k8s.io/VolumeAttachment",
]);

/** The version that a kind is served under today. */
export function currentVersion(apiVersion: string, kind: string): string {
  return apiVersion === "v1" ? (GROUP_OF.get(kind) ?? apiVersion) : apiVersion;
}

/** Whether a built-in kind is known to have no namespace. */
export function isClusterScoped(apiVersion: string, kind: string): boolean {
  const slash = apiVersion.indexOf("/");
  return CLUSTER_SCOPED.has(`${slash < 0 ? "" : apiVersion.slice(0, slash)}/${kind}`);
}
