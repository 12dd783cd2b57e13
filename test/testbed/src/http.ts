import { request } from "node:https";
import { connect } from "node:net";

export interface HttpsOptions {
  readonly token: string;
  /** The authority's certificate, PEM. */
  readonly ca: string;
}

/** Status of a GET. */
export const httpsStatus = (url: string, { token, ca }: HttpsOptions): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = { ca, headers: { authorization: `Bearer ${token}` }, timeout: 3000, agent: false };
    const call = request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on("timeout", () => call.destroy(new Error("no answer within 3 s")));
    call.on("error", reject);
    call.end();
  });

export type Target = { readonly host: string; readonly port: number } | { readonly path: string };

/** Whether something accepts connections at a TCP port or unix socket. */
export const accepts = (target: Target): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(target);
    const answer = (value: boolean): void => {
      socket.destroy();
      resolve(value);
    };
    socket.setTimeout(2000, () => answer(false));
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
