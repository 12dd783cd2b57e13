import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { adminToken, guestPaths } from "./paths.ts";

export interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Asks the guest's API server as its administrator. */
export const askApi = (method: "GET" | "POST", path: string, body?: object): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const call = request(
      guestPaths.api + path,
      {
        method,
        ca: readFileSync(join(guestPaths.pki, "apiserver.crt")),
        headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
        timeout: 60_000,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      },
    );
    call.on("timeout", () => call.destroy(new Error("no answer within 60 s")));
    call.on("error", reject);
    call.end(body === undefined ? undefined : JSON.stringify(body));
  });

/** Creates an object; it is an error if the server refuses it. */
export const createObject = async (path: string, body: object): Promise<void> => {
  const { status, body: text } = await askApi("POST", path, body);
  if (status !== 201) throw new Error(`POST ${path}: ${status} ${text.slice(0, 500)}`);
};
