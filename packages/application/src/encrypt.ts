import { errorCode, errorMessage, type NetworkSocket } from "@trawler/plugin-api";

/** How TLS is spoken with an application. All PEM texts. */
export interface TlsOptions {
  /** Who may have signed the server's certificate; absent = the system's authorities. */
  readonly ca?: string | undefined;
  /** Name that its certificate must carry. A pod is asked by its address, so that without it no name is checked. */
  readonly serverName?: string | undefined;
  /** Ours, for servers that ask for one. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

export type Encrypted =
  | { readonly socket: NetworkSocket }
  /** `not_tls`: it does not speak it, or not with us. `cert_invalid`: its certificate is not one that is trusted. */
  | { readonly refusal: "not_tls" | "cert_invalid"; readonly reason: string };

/** Speaks TLS over an open connection. Never throws; when `signal` aborts, the other side did not speak TLS in time. */
export async function encrypt(socket: NetworkSocket, options: TlsOptions, signal: AbortSignal): Promise<Encrypted> {
  const { ca, serverName, certificate: cert, key } = options;
  // On first use: a node without such servers never pays for it.
  const { connect } = await import("node:tls");
  const { promise, resolve } = Promise.withResolvers<Encrypted>();
  const late = (): void => resolve({ refusal: "not_tls", reason: "no answer in TLS in time" });
  if (signal.aborted) late();
  signal.addEventListener("abort", late, { once: true });
  try {
    const encrypted = connect({
      socket,
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(serverName === undefined ? { checkServerIdentity: () => undefined } : { servername: serverName }),
    });
    encrypted.once("secureConnect", () => resolve({ socket: encrypted }));
    // It stays: a socket without a listener would bring the process down by its error.
    encrypted.on("error", (error) => resolve(refusalOf(error)));
    encrypted.once("close", () => resolve({ refusal: "not_tls", reason: "closed without an answer in TLS" }));
    return await promise;
  } catch (error) {
    // A certificate or key of ours that is none.
    return refusalOf(error);
  } finally {
    signal.removeEventListener("abort", late);
  }
}

/** Codes of OpenSSL's verification and of Node's check of names. */
const CERTIFICATE = /^(CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|PATH_LENGTH_|ERR_TLS_CERT_)/;

function refusalOf(error: unknown): Encrypted {
  const code = errorCode(error) ?? "";
  const what = code === "" ? "" : `${code}: `;
  if (CERTIFICATE.test(code)) {
    const mend =
      code === "ERR_TLS_CERT_ALTNAME_INVALID" ? "it has another name than `serverName`" : "its signer is not in `ca`";
    return { refusal: "cert_invalid", reason: `${what}the certificate is refused: ${mend}` };
  }
  return { refusal: "not_tls", reason: `${what}${errorMessage(error)}`.slice(0, 200) };
}
