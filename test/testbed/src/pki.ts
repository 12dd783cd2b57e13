import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Layout } from "./layout.ts";
import { network } from "./pins.ts";
import { run } from "./run.ts";

export const pkiFile = (layout: Layout, name: string): string => join(layout.pki, name);

const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "3650"];

const serverNames = [
  "DNS:localhost",
  "DNS:kubernetes",
  "DNS:kubernetes.default",
  "DNS:kubernetes.default.svc",
  "IP:127.0.0.1",
  `IP:${network.address}`,
].join(",");

interface Certificate {
  readonly name: string;
  readonly subject: string;
  readonly extensions: readonly string[];
}

const certificates: readonly Certificate[] = [
  {
    name: "server",
    subject: "/CN=trawler-testbed",
    extensions: [`subjectAltName=${serverNames}`, "extendedKeyUsage=serverAuth,clientAuth"],
  },
  // The API server's own identity towards the kubelet.
  {
    name: "kubelet-client",
    subject: "/O=system:masters/CN=kube-apiserver-kubelet-client",
    extensions: ["extendedKeyUsage=clientAuth"],
  },
  // For mutual TLS against Kafka.
  { name: "client", subject: "/CN=trawler-client", extensions: ["extendedKeyUsage=clientAuth"] },
];

/** One authority, and certificates from it for the API server, the kubelet and Kafka; made once. */
export const makePki = async (layout: Layout): Promise<void> => {
  const at = (name: string): string => pkiFile(layout, name);
  if (existsSync(at("complete"))) return;
  mkdirSync(layout.pki, { recursive: true, mode: 0o700 });
  const authority = [
    "-x509",
    ...newKey,
    "-subj",
    "/CN=trawler-testbed-ca",
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.crt"),
  ];
  await run("openssl", ["req", ...authority, "-addext", "keyUsage=critical,keyCertSign,cRLSign"]);
  for (const { name, subject, extensions } of certificates) {
    const files = ["-keyout", at(`${name}.key`), "-out", at(`${name}.crt`)];
    const added = [...extensions, "basicConstraints=critical,CA:FALSE"].flatMap((extension) => ["-addext", extension]);
    await run("openssl", [
      "req",
      "-x509",
      ...newKey,
      "-CA",
      at("ca.crt"),
      "-CAkey",
      at("ca.key"),
      "-subj",
      subject,
      ...files,
      ...added,
    ]);
  }
  await run("openssl", ["genrsa", "-out", at("sa.key"), "2048"]);
  await run("openssl", ["rsa", "-in", at("sa.key"), "-pubout", "-out", at("sa.pub")]);
  writeFileSync(at("complete"), "");
};
