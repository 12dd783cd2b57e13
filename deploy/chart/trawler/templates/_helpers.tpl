{{- define "trawler.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 53 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 53 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "trawler.selector" -}}
app.kubernetes.io/name: trawler
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "trawler.labels" -}}
{{ include "trawler.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "trawler.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ printf "%s@%s" .repository .digest }}{{ else }}{{ printf "%s:%s" .repository (default $.Chart.AppVersion .tag) }}{{ end }}
{{- end }}
{{- end }}

{{/* The tier figures runs as nobody; the others as root with the capabilities named here and no other. */}}
{{- define "trawler.capabilities" -}}
{{- if eq .Values.tier "files" }}[SYS_PTRACE, DAC_READ_SEARCH]{{ else if eq .Values.tier "namespaces" }}[SYS_PTRACE, DAC_READ_SEARCH, SYS_ADMIN]{{ else }}[]{{ end }}
{{- end }}

{{/* How brokers are reached, in the words of all of Trawler's configuration files. */}}
{{- define "trawler.kafkaConnection" -}}
{{- $folder := "/etc/trawler-kafka" }}
{{- with .Values.kafka }}
brokers: {{ toJson .brokers }}
{{- if .sasl.mechanism }}
sasl:
  mechanism: {{ .sasl.mechanism }}
  username: {{ printf "${file:%s/%s}" $folder .sasl.usernameKey | quote }}
  passwordFile: {{ printf "%s/%s" $folder .sasl.passwordKey | quote }}
{{- end }}
{{- if .tls.enabled }}
tls:
  {{- with .tls }}
  {{- if .caKey }}
  ca: {{ printf "%s/%s" $folder .caKey | quote }}
  {{- end }}
  {{- if .certificateKey }}
  certificate: {{ printf "%s/%s" $folder .certificateKey | quote }}
  {{- end }}
  {{- if .privateKeyKey }}
  key: {{ printf "%s/%s" $folder .privateKeyKey | quote }}
  {{- end }}
  {{- if .serverName }}
  serverName: {{ quote .serverName }}
  {{- end }}
  {{- if not (or .caKey .certificateKey .serverName) }} {}{{ end }}
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "trawler.kafka" -}}
{{ include "trawler.kafkaConnection" . | trim }}
{{- with .Values.kafka }}
topic: {{ quote .topic }}
createTopic: {{ .createTopic }}
compression: {{ .compression }}
{{- end }}
{{- end }}

{{/* The configuration file of the agent, before .Values.config is laid over it. */}}
{{- define "trawler.config" -}}
cluster:
  name: {{ quote .Values.cluster.name }}
node:
  name: "${env:NODE_NAME}"
host:
  # The node's root is that of its first process: always what the node sees, with nothing of it mounted here.
  {{- if ne .Values.tier "figures" }}
  root: /proc/1/root
  {{- end }}
  cgroup: /host/sys/fs/cgroup
http:
  address: "${env:POD_IP}"
  port: {{ .Values.http.port }}
state:
  folder: /var/lib/trawler
pipelines:
  default:
    environment:
      kubernetes:
        discovery: {{ ternary "api" .Values.discovery (eq .Values.tier "figures") }}
        {{- with .Values.runtimeSockets }}
        sockets: {{ toJson . }}
        {{- end }}
        kubelet:
          root: {{ quote .Values.kubeletRoot }}
        {{- with .Values.excludeNamespaces }}
        exclude:
          namespaces: {{ toJson . }}
        {{- end }}
    mode:
      pod: {}
    every: {{ .Values.every }}
    {{- if .Values.crawlers }}
    crawlers:
      {{- toYaml .Values.crawlers | nindent 6 }}
    {{- else if eq .Values.tier "figures" }}
    crawlers: { cpu: {}, memory: {}, blockio: {}, network: {}, process: {}, connection: {} }
    {{- end }}
    emitters:
      kafka:
        {{- include "trawler.kafka" . | trim | nindent 8 }}
{{- end }}

{{/* What runs beside the agents: `part` is inventory or provision, `root` the chart's scope. */}}
{{- define "trawler.partName" -}}
{{ printf "%s-%s" (include "trawler.name" .root) .part }}
{{- end }}

{{- define "trawler.partSelector" -}}
app.kubernetes.io/name: trawler-{{ .part }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- end }}

{{- define "trawler.partLabels" -}}
{{ include "trawler.partSelector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | quote }}
{{- end }}

{{- define "trawler.partAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "trawler.partName" . }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "trawler.partLabels" . | nindent 4 }}
automountServiceAccountToken: false
{{- end }}

{{/* The pod but for its containers and volumes: nobody, with no right on the node. */}}
{{- define "trawler.partPod" -}}
{{- $values := index .root.Values .part }}
serviceAccountName: {{ include "trawler.partName" . }}
automountServiceAccountToken: true
enableServiceLinks: false
terminationGracePeriodSeconds: 15
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* The container but for its name, arguments, probes and mounts. */}}
{{- define "trawler.partContainer" -}}
{{- $values := index .root.Values .part }}
image: {{ include "trawler.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
terminationMessagePolicy: FallbackToLogsOnError
env:
  - name: POD_IP
    valueFrom: { fieldRef: { fieldPath: status.podIP } }
  - name: HOST_IP
    valueFrom: { fieldRef: { fieldPath: status.hostIP } }
  {{- if .root.Values.apiServer.host }}
  - name: KUBERNETES_SERVICE_HOST
    value: {{ .root.Values.apiServer.host | quote }}
  - name: KUBERNETES_SERVICE_PORT
    value: {{ .root.Values.apiServer.port | quote }}
  {{- end }}
resources:
  {{- toYaml $values.resources | nindent 2 }}
securityContext:
  privileged: false
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "trawler.partVolume" -}}
{{- $state := (index .root.Values .part).state }}
- name: state
  {{- if .persistent }}
  persistentVolumeClaim:
    claimName: {{ default (include "trawler.partName" .) $state.existingClaim }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ $state.size }}
  {{- end }}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- end }}

{{- define "trawler.partClaim" -}}
{{- $state := (index .root.Values .part).state }}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ include "trawler.partName" . }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "trawler.partLabels" . | nindent 4 }}
  annotations:
    # It holds the past, which nobody can read again.
    helm.sh/resource-policy: keep
spec:
  accessModes: [ReadWriteOnce]
  {{- with $state.storageClassName }}
  storageClassName: {{ . }}
  {{- end }}
  resources:
    requests:
      storage: {{ $state.size }}
{{- end }}
