import { generateKeyPairSync, sign } from "node:crypto";

/** DER: tag, length, content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const length =
    body.length < 128
      ? Buffer.of(body.length)
      : body.length < 256
        ? Buffer.of(0x81, body.length)
        : Buffer.of(0x82, body.length >> 8, body.length & 0xff);
  return Buffer.concat([Buffer.of(tag), length, body]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const ED25519 = sequence(der(0x06, Buffer.of(0x2b, 0x65, 0x70)));
const COMMON_NAME = der(0x06, Buffer.of(0x55, 0x04, 0x03));
const SUBJECT_ALTERNATIVE_NAME = der(0x06, Buffer.of(0x55, 0x1d, 0x11));

/** A fresh self-signed certificate (RFC 5280, Ed25519) for 127.0.0.1, valid until 2049. */
export function selfSigned(): { readonly cert: string; readonly key: string } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from("fake server")))));
  const validity = sequence(der(0x17, Buffer.from("200101000000Z")), der(0x17, Buffer.from("491231235959Z")));
  const address = sequence(der(0x87, Buffer.of(127, 0, 0, 1)));
  const extensions = der(0xa3, sequence(sequence(SUBJECT_ALTERNATIVE_NAME, der(0x04, address))));
  const version = der(0xa0, der(0x02, Buffer.of(2)));
  const serial = der(0x02, Buffer.of(1));
  const publicInfo = publicKey.export({ type: "spki", format: "der" });
  const body = sequence(version, serial, ED25519, name, validity, name, publicInfo, extensions);
  const bytes = sequence(body, ED25519, der(0x03, Buffer.of(0), sign(null, body, privateKey)));
  const lines = (bytes.toString("base64").match(/.{1,64}/g) ?? []).join("\n");
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}
