import { describe, expect, test } from "vitest";
import { parseCredentials } from "../src/credentials.ts";
import { sign } from "../src/sign.ts";
import { expectedSignature, signatureOf } from "./signature.ts";

const BODY = new TextEncoder().encode("Welcome to Amazon S3.");
// The keys, the request and the signature of the example "PUT Object" that AWS publishes for Signature Version 4.
const KEY = "AKIAIOSFODNN7EXAMPLE";
const SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const EXAMPLE = {
  method: "PUT",
  path: "/test%24file.text",
  body: BODY,
  headers: {
    date: "Fri, 24 May 2013 00:00:00 GMT",
    host: "examplebucket.s3.amazonaws.com",
    "x-amz-content-sha256": "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072",
    "x-amz-date": "20130524T000000Z",
    "x-amz-storage-class": "REDUCED_REDUNDANCY",
    authorization: `AWS4-HMAC-SHA256 Credential=${KEY}/20130524/us-east-1/s3/aws4_request, SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd`,
  },
} as const;

test("what checks signatures here finds the one that AWS publishes", () => {
  expect(expectedSignature(EXAMPLE, SECRET)).toBe(signatureOf(EXAMPLE));
});

describe("a request that is signed here", () => {
  const unsigned = {
    method: "PUT",
    host: "examplebucket.s3.amazonaws.com",
    path: "/trawler/2013/05/24/00/node%20a-%C5%82.ndjson.gz",
    region: "eu-central-1",
    headers: { "content-type": "application/gzip", "X-Amz-Storage-Class": "STANDARD_IA" },
    body: BODY,
  };
  const credentials = { accessKeyId: KEY, secretAccessKey: SECRET };
  const now = Date.UTC(2013, 4, 24);

  test("has the signature that AWS's steps give, over every header of its own", () => {
    const headers = sign(unsigned, credentials, now);
    expect(signatureOf({ headers })).toBe(expectedSignature({ ...unsigned, headers }, SECRET));
    expect(headers["authorization"]).toContain(
      `Credential=${KEY}/20130524/eu-central-1/s3/aws4_request, SignedHeaders=content-length;content-type;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class`,
    );
    expect(JSON.stringify(headers)).not.toContain(SECRET);
  });

  test("is the same with the published example's own headers", () => {
    const { date, "x-amz-storage-class": storage } = EXAMPLE.headers;
    const headers = sign(
      { ...unsigned, path: EXAMPLE.path, region: "us-east-1", headers: { date, "x-amz-storage-class": storage } },
      credentials,
      now,
    );
    expect(headers).toMatchObject({
      "x-amz-content-sha256": EXAMPLE.headers["x-amz-content-sha256"],
      "x-amz-date": EXAMPLE.headers["x-amz-date"],
    });
    expect(signatureOf({ headers })).toBe(expectedSignature({ ...EXAMPLE, headers }, SECRET));
  });

  test("carries the token of temporary credentials, signed", () => {
    const headers = sign(unsigned, { ...credentials, sessionToken: "token" }, now);
    expect(headers["x-amz-security-token"]).toBe("token");
    expect(headers["authorization"]).toContain("x-amz-security-token");
    expect(signatureOf({ headers })).toBe(expectedSignature({ ...unsigned, headers }, SECRET));
  });
});

test("a file of shared credentials: one profile, comments and other keys are nothing", () => {
  const text = `# mine\r\n[default]\naws_access_key_id = A\nregion = eu\naws_secret_access_key=B\n\n[ audit ]\nAWS_ACCESS_KEY_ID=C\naws_secret_access_key = D=\naws_session_token = E\n[half]\naws_access_key_id=F\n`;
  expect(parseCredentials(text, "default")).toEqual({ accessKeyId: "A", secretAccessKey: "B" });
  expect(parseCredentials(text, "audit")).toEqual({ accessKeyId: "C", secretAccessKey: "D=", sessionToken: "E" });
  expect(parseCredentials(text, "half")).toBeNull();
  expect(parseCredentials(text, "none")).toBeNull();
});
