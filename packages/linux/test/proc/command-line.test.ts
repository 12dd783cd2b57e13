import { describe, expect, test } from "vitest";
import { parseCommandLine } from "../../src/proc/command-line.ts";

const parse = (...parts: readonly string[]): readonly string[] => parseCommandLine(`${parts.join("\0")}\0`);

describe("command lines", () => {
  test("arguments as they are; a title padded with blanks or NULs is one", () => {
    expect(parse("nginx", "-g", "daemon off;")).toEqual(["nginx", "-g", "daemon off;"]);
    expect(parse("a", "", "b")).toEqual(["a", "", "b"]);
    expect(parseCommandLine("redis-server *:6379          ")).toEqual(["redis-server *:6379"]);
    expect(parseCommandLine("nginx: worker process\0\0\0\0")).toEqual(["nginx: worker process"]);
    expect(parseCommandLine("")).toEqual([]);
  });

  test.each([
    [
      ["mysql", "--password=hunter2"],
      ["mysql", "--password=[redacted]"],
    ],
    [
      ["x", "--password", "hunter2", "-v"],
      ["x", "--password", "[redacted]", "-v"],
    ],
    [
      ["x", "--api-key", "hunter2"],
      ["x", "--api-key", "[redacted]"],
    ],
    [
      ["x", "--no-password", "--verbose"],
      ["x", "--no-password", "--verbose"],
    ],
    [
      ["env", "PGPASSWORD=hunter2", "psql"],
      ["env", "PGPASSWORD=[redacted]", "psql"],
    ],
    [
      ["java", "-Ddb.secret=hunter2"],
      ["java", "-Ddb.secret=[redacted]"],
    ],
    [
      ["x", "access_token:hunter2"],
      ["x", "access_token:[redacted]"],
    ],
    [
      ["redis-server", "--requirepass", "hunter2"],
      ["redis-server", "--requirepass", "[redacted]"],
    ],
    [
      ["redis-server", "requirepass", "hunter2"],
      ["redis-server", "requirepass", "[redacted]"],
    ],
    [
      ["sh", "-c", "run --token hunter2 && ok"],
      ["sh", "-c", "run --token [redacted] && ok"],
    ],
    [
      ["x", '{"a":1,"password":"hunter2"}'],
      ["x", '{"a":1,"password":[redacted]'],
    ],
    [
      ["x", "redis://user:hunter2@db:6379/0"],
      ["x", "redis://[redacted]@db:6379/0"],
    ],
    [
      ["x", "--url=postgres://u:hunter2@db/x"],
      ["x", "--url=postgres://[redacted]@db/x"],
    ],
    [
      ["curl", "-H", "X-Api-Key: hunter2", "https://example.test/"],
      ["curl", "-H", "X-Api-Key: [redacted]", "https://example.test/"],
    ],
    [
      ["curl", "-H", "Authorization: Bearer hunter2"],
      ["curl", "-H", "Authorization: Bearer [redacted]"],
    ],
    [
      ["curl", "--header=Authorization:Basic hunter2", "-HAuthorization: hunter2"],
      ["curl", "--header=Authorization:Basic [redacted]", "-HAuthorization: [redacted]"],
    ],
    [
      ["x", "authorization=hunter2", "Bearer", "hunter2"],
      ["x", "authorization=[redacted]", "Bearer", "[redacted]"],
    ],
    [
      ["x", '{"password": "hunter2", "a": 1}'],
      ["x", '{"password": [redacted] "a": 1}'],
    ],
    [
      ["kube-apiserver", "--authorization-mode=Node,RBAC", "--password=", "-v"],
      ["kube-apiserver", "--authorization-mode=Node,RBAC", "--password=[redacted]", "-v"],
    ],
    [
      ["cat", "/etc/passwd"],
      ["cat", "/etc/passwd"],
    ],
    [
      ["x", "--file=/run/secrets/db", "--next"],
      ["x", "--file=/run/secrets/db", "--next"],
    ],
  ])("secrets: %j", (parts, expected) => {
    expect(parse(...parts)).toEqual(expected);
  });

  test("C87: 130 kB are cut to 4 KiB together, with a mark, invalid UTF-8 included", () => {
    const bytes = Buffer.concat([Buffer.from("app\0\xff\xfe\0", "latin1"), Buffer.alloc(130_000, "x")]);
    const parts = parseCommandLine(bytes.toString("utf8"));
    expect(Buffer.byteLength(`${parts.join("\0")}\0`)).toBe(4096);
    expect(parts.at(-1)).toMatch(/^x+…$/);
    expect(parts[1]).toBe("\ufffd\ufffd");
  });

  test("many empty and many secret arguments stay bounded", () => {
    expect(parseCommandLine(`a\0${"b\0".repeat(10_000)}`)).toHaveLength(1000);
    expect(parse("a", ...Array<string>(2000).fill(""), "b").slice(-2)).toEqual(["", "…"]);
    expect(parseCommandLine(`a${"\0".repeat(400_000)}b`)).toHaveLength(1000);
    expect(Buffer.byteLength(parse("é".repeat(10_000)).join())).toBeLessThanOrEqual(4096);
    expect(parse("é".repeat(10_000))[0]).toMatch(/^é+…$/);
    expect(parseCommandLine(`--password=${"token".repeat(3000)}`)).toEqual(["--password=[redacted]"]);
  });

  test.each([
    ["mysql\0-uroot\0-phunter2\0shop", "mysql -uroot -p[redacted] shop"],
    ["mysql\0-uroot\0-p\0shop", "mysql -uroot -p shop"],
    ["mysql\0-P3306\0-phunter 2", "mysql -P3306 -p[redacted]"],
    ["/usr/bin/mysqldump\0-p'hunter2'", "/usr/bin/mysqldump -p[redacted]"],
    ["sh\0-c\0exec mariadb-admin -phunter2 ping", "sh -c exec mariadb-admin -p[redacted] ping"],
    ["sshpass\0-p\0hunter2\0ssh\0host\0ls", "sshpass -p [redacted] ssh host ls"],
    ["sshpass\0-phunter2\0ssh\0host", "sshpass -p[redacted] ssh host"],
    ["curl\0-sSu\0admin:hunter2\0http://h/", "curl -sSu [redacted] http://h/"],
    ["curl\0-uadmin:hunter2\0http://h/", "curl -u[redacted] http://h/"],
    ["curl\0--user\0admin:hunter2", "curl --user [redacted]"],
    [
      "bash\0-c\0while sleep 1; do curl -u admin:hunter2 h; done",
      "bash -c while sleep 1; do curl -u [redacted] h; done",
    ],
    ["redis-cli\0-h\0db\0-a\0hunter2\0PING", "redis-cli -h db -a [redacted] PING"],
    ["mongosh\0-u\0root\0-p\0hunter2", "mongosh -u root -p [redacted]"],
    ["mongodump\0-phunter2", "mongodump -p[redacted]"],
    ["psql\0postgresql://me:hunter2@db/shop", "psql postgresql://[redacted]@db/shop"],
    ["ldapsearch\0-x\0-w\0hunter2", "ldapsearch -x -w [redacted]"],
    ["keytool\0-storepass\0hunter2", "keytool -storepass [redacted]"],
    ["app\0--password\0hunter 2\0next", "app --password [redacted] next"],
    ["java\0-Dpassword=hunter 2\0Main", "java -Dpassword=[redacted] Main"],
    ["ssh\0-p\x0022\0host", "ssh -p 22 host"],
    ["postgres\0-p5432", "postgres -p5432"],
  ])("a secret behind a flag that does not name one: %j", (text, expected) => {
    expect(parseCommandLine(text).join(" ")).toBe(expected);
  });
});
