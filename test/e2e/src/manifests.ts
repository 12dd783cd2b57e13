import { busyboxImage, nginxImage, redisImage } from "@trawler/testbed";

export interface ContainerOptions {
  readonly name?: string;
  readonly image?: string;
  /** Shell line that busybox runs. */
  readonly script?: string;
  readonly command?: readonly string[];
  readonly extra?: object;
}

export interface PodOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly containers?: readonly ContainerOptions[];
  readonly spec?: object;
}

/** Sleeps until it is told to end, and ends at once then. */
export const idle = "trap 'exit 0' TERM INT; while true; do sleep 3600 & wait $!; done";

export function container({ name = "main", image = busyboxImage, script, command, extra }: ContainerOptions): object {
  const run = command ?? ["/bin/sh", "-c", script ?? idle];
  return { name, image, imagePullPolicy: "Never", command: run, ...extra };
}

export function podSpec({ containers = [{}], spec }: PodOptions): object {
  return { terminationGracePeriodSeconds: 1, containers: containers.map(container), ...spec };
}

export function pod(namespace: string, name: string, options: PodOptions = {}): object {
  const { labels = {}, annotations = {} } = options;
  return { apiVersion: "v1", kind: "Pod", metadata: { namespace, name, labels, annotations }, spec: podSpec(options) };
}

export function deployment(namespace: string, name: string, replicas: number, options: PodOptions = {}): object {
  const labels = { app: name, ...options.labels };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { namespace, name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels, annotations: options.annotations ?? {} }, spec: podSpec(options) },
    },
  };
}

export function job(namespace: string, name: string, script: string): object {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { namespace, name },
    spec: {
      backoffLimit: 0,
      template: {
        metadata: { labels: { app: name } },
        spec: { ...podSpec({ containers: [{ script }] }), restartPolicy: "Never" },
      },
    },
  };
}

export const redis = (...options: readonly string[]): ContainerOptions => ({
  name: "redis",
  image: redisImage,
  command: ["/usr/bin/redis-server", "--save", "", "--protected-mode", "no", ...options],
});

export const nginx = (configuration: string): ContainerOptions => ({
  name: "nginx",
  image: nginxImage,
  command: [
    "/bin/sh",
    "-c",
    `cat > /tmp/nginx.conf <<'CONF'\n${configuration}\nCONF\nexec /usr/sbin/nginx -c /tmp/nginx.conf`,
  ],
});
