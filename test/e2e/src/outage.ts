import { restartComponent, startComponent, stopComponent } from "@trawler/testbed";

/** The API server is away until `end`, or at the latest until this is disposed of. */
export interface ApiServerOutage extends AsyncDisposable {
  /** Starts the API server; answers when it serves. The agent's own way back can be watched from here. */
  end(): Promise<void>;
}

/** What would otherwise wait out its own back-off: seen up to 90 s from a served API server to a scheduled pod. */
const CLIENTS = ["scheduler", "controller-manager", "kubelet"];

/**
 * Stops the API server. Disposing of the answer starts it, and starts the cluster's own clients anew, so that the next
 * pod is scheduled and started at once, whatever test comes next.
 */
export async function stopApiServer(): Promise<ApiServerOutage> {
  await stopComponent("apiserver");
  const end = (): Promise<void> => startComponent("apiserver");
  return {
    end,
    async [Symbol.asyncDispose]() {
      await end();
      for (const client of CLIENTS) await restartComponent(client);
    },
  };
}
