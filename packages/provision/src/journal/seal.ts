import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";

/** Encrypts what a journal must remember and must not show: the bodies of objects, and secret values. */
export function seal(key: Uint8Array, text: string): Uint8Array {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key, nonce);
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

/** Throws where the key is another one or the bytes were changed. */
export function unseal(key: Uint8Array, bytes: Uint8Array): string {
  const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12));
  decipher.setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString("utf8");
}

export function newKey(): Uint8Array {
  return randomBytes(32);
}
