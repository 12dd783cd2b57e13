import type { Command } from "commander";
import type { World } from "../../../world.ts";
import type { CommandHelp } from "../../inventory/command.ts";
import type { ServeOptions } from "./settings.ts";

/** `trawl provision serve`. What it needs is loaded when it runs. */
export function addProvisionServe(
  group: Command,
  { common, examples }: CommandHelp,
  world: World,
  done: (code: number) => void,
): void {
  const description =
    "Serve provisioning over HTTP until a signal: templates, forms, plans, instances and their events.";
  common(group.command("serve").description(description))
    .option("--address <address>", "address that is listened on; default 127.0.0.1")
    .option("--port <port>", "its port; default 9469, 0 takes a free one")
    .option("--token-file <file>", "the bearer token that clients must send")
    .option("--insecure-no-token", "serve programs of this host without a token, on loopback only")
    .option("--tls-certificate <file>", "speak TLS with this certificate (PEM)")
    .option("--tls-key <file>", "its key (PEM)")
    .option("--catalog <folder>", "templates that clients may name")
    .option("--state <folder>", "where runs are kept")
    .option("--kubeconfig <file>", "the cluster (default: $KUBECONFIG, the pod's account, ~/.kube/config)")
    .option("--context <name>", "a context of that file")
    .option("--inventory <folder>", "the running inventory that is told; default: the one of this host, if any")
    .option("--webhook <url>", "gets a POST with JSON for each run that is over")
    .option("--webhook-secret-file <file>", "the secret that signs it, as Standard Webhooks does")
    .addHelpText(
      "after",
      `${examples(
        ["openssl rand -hex 32 > token; trawl provision serve --token-file token", "on 127.0.0.1:9469"],
        ["trawl provision serve --config provision.yaml", "as the file says"],
        ["trawl provision serve --insecure-no-token --catalog templates", "to try it on this host"],
        ['curl -H "authorization: Bearer $(cat token)" 127.0.0.1:9469/v1/templates', "ask it"],
        ["trawl provision apply -f shop.yaml --detach --server http://127.0.0.1:9469 --token-file token", "use it"],
      )}
The description of its API is at /openapi.json. Runs go on at the next start where a process ends in the middle of them.
`,
    )
    .action(async (options: ServeOptions) => done(await (await import("./serve.ts")).provisionServe(options, world)));
}
