import { NamespaceConnector, NodeReader } from "@trawler/linux";
import type { CallContext, Clock, Mode, NodeInfo, Subject, Workload } from "@trawler/plugin-api";
import { PodSubject } from "./subject.ts";

/** Opens pods: one subject each, its running containers the members. */
export class PodMode implements Mode, AsyncDisposable {
  readonly #node: NodeReader;
  readonly #connector = new NamespaceConnector();

  constructor(paths: NodeInfo["paths"], clock: Clock) {
    this.#node = new NodeReader(paths, clock);
  }

  async open(workload: Workload, context: CallContext): Promise<Subject> {
    const subject = new PodSubject(this.#node, this.#connector, workload);
    await subject.update(workload, context);
    return subject;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connector[Symbol.asyncDispose]();
  }
}
