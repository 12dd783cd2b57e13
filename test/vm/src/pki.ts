import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { run } from "@trawler/testbed";

/** Keys of the guest's API server, made outside: that is slow in an emulated machine. */
export const makePki = async (folder: string): Promise<void> => {
  const at = (name: string): string => join(folder, name);
  mkdirSync(folder, { recursive: true });
  const certificate = [
    ...["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"],
    ...["-subj", "/CN=apiserver", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
    ...["-keyout", at("apiserver.key"), "-out", at("apiserver.crt")],
  ];
  await run("openssl", ["req", ...certificate]);
  await run("openssl", ["genrsa", "-out", at("sa.key"), "2048"]);
  await run("openssl", ["rsa", "-in", at("sa.key"), "-pubout", "-out", at("sa.pub")]);
};
