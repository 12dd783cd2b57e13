import { expect, test } from "vitest";
import { parseSpecification } from "../src/parse.ts";

test("parity P28: name and version of a specification, with hyphens, letters and a platform", () => {
  const table = [
    ["rake-12.3.0.gemspec", "rake", "12.3.0", null],
    ["nokogiri-1.10.gemspec", "nokogiri", "1.10", null],
    ["nokogiri-1.13.9-x86_64-linux.gemspec", "nokogiri", "1.13.9", "x86_64-linux"],
    ["jruby-openssl-0.14.0-java.gemspec", "jruby-openssl", "0.14.0", "java"],
    ["net-http2-0.18.5.gemspec", "net-http2", "0.18.5", null],
    ["foo-2bar-1.0.gemspec", "foo-2bar", "1.0", null],
    ["minitest-5.15.0.rc1.gemspec", "minitest", "5.15.0.rc1", null],
  ] as const;
  for (const [file, name, version, platform] of table) {
    expect(parseSpecification(file), file).toEqual({ name, version, platform });
  }
});

test("what is no specification is none, at any length", () => {
  const files = ["README", "rake.gemspec", "-1.0.gemspec", "rake-12.3.0.gem", `${"a-".repeat(100_000)}1.gemspec`];
  for (const file of [...files, `a-${"1.".repeat(100_000)}gemspec`]) expect(parseSpecification(file)).toBeNull();
});
