import { describe, expect, test } from "vitest";
import { redactConfig } from "../src/redact.ts";

const R = "[redacted]";

describe("098: what is secret is redacted", () => {
  test.each([
    ["password = hunter2", `password = ${R}`],
    ["  db_password: hunter2 # comment", `  db_password: ${R}`],
    ["requirepass hunter2", `requirepass ${R}`],
    ["# requirepass hunter2", `# requirepass ${R}`],
    ["export API_KEY='hunter2'", `export API_KEY=${R}`],
    ['  "clientSecret": "hunter2",', `  "clientSecret": ${R}`],
    ['{"user":"u","password":"hunter2","n":1}', `{"user":"u","password":"${R}","n":1}`],
    ['{"a": 1, "password" : "hun\\"ter2"}', `{"a": 1, "password" : "${R}"}`],
    ["<password>hunter2</password>", `<password>${R}</password>`],
    ["<ns:password a='b'>\n hunter2\n</ns:password>", `<ns:password a='b'>${R}</ns:password>`],
    ['<user name="u" password="hunter2" roles="r"/>', `<user name="u" password="${R}" roles="r"/>`],
    ['<property name="jdbc.password" value="hunter2"/>', `<property name="jdbc.password" value="${R}"/>`],
    ["options host=a password=hunter2 port=1", `options host=a password="${R}" port=1`],
    ["url: postgres://user:hunter2@db:5432/x", `url: postgres://${R}@db:5432/x`],
    ["proxy_set_header Authorization 'Basic aHVudGVyMg=='", `proxy_set_header Authorization 'Basic ${R}'`],
    ["user:$6$abcdefgh$hunter2hunter2:1", `user:${R}:1`],
    ["user:$apr1$abcdefgh$hunter2hunter2", `user:${R}`],
    ["rootpw {SSHA}hunter2hunter2", `rootpw ${R}`],
    ["password = hunter2\r\nport = 1\r\n", `password = ${R}\r\nport = 1\r\n`],
    ["port = 1\rpassword = hunter2\rx = 1", `port = 1\rpassword = ${R}\rx = 1`],
    ["password: |\n  hunter2\n  more\nport: 1", `password: ${R}\n  ${R}\n  ${R}\nport: 1`],
  ])("%j", (text, expected) => {
    expect(redactConfig(text)).toBe(expected);
    expect(redactConfig(text)).not.toContain("hunter2");
  });

  test("a private key, whole or cut off", () => {
    const key = "-----BEGIN RSA PRIVATE KEY-----\nhunter2\nhunter2\n-----END RSA PRIVATE KEY-----\n";
    expect(redactConfig(`a\n${key}b`)).toBe(
      `a\n-----BEGIN RSA PRIVATE KEY-----\n${R}\n-----END RSA PRIVATE KEY-----\nb`,
    );
    expect(redactConfig(key.slice(0, 50))).not.toContain("hunter2");
  });
});

test.each([
  "PasswordAuthentication no",
  "#PermitEmptyPasswords no",
  "passwd:         files systemd",
  "Defaults passwd_tries=3",
  "root:x:0:0:root:/root:/bin/bash",
  "# Passwords are kept in another file.",
  "PrivateTmp=true",
  "listen 80 default_server;",
  "127.0.0.1 localhost",
  "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----",
  "",
])("%j stays as it is", (text) => {
  expect(redactConfig(text)).toBe(text);
});

test.each([
  ["of words", "a".repeat(16_000)],
  ["of elements", "<a ".repeat(5000)],
  ["of quotes", "password='".repeat(1600)],
  ["of dollars", "$6$".repeat(5000)],
  ["of blanks", `password${" ".repeat(16_000)}`],
  ["of dashes", "-----BEGIN PRIVATE KEY-----".repeat(600)],
  ["of addresses", "a://".repeat(4000)],
  ["of names", `${'name="a" '.repeat(1700)}`],
])("a long line %s ends", (_, text) => {
  expect(redactConfig(text).length).toBeGreaterThan(0);
});
