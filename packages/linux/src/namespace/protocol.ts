/** Asks the namespace worker for an unconnected stream socket. Descriptors are numbers: they belong to the process. */
export interface SocketRequest {
  readonly id: number;
  /** An open descriptor of the network namespace. */
  readonly namespace: number;
  readonly domain: number;
}

/** `descriptor` is then the asking thread's to close; `code` is of errno(3), ENOSYS where there is no FFI. */
export type SocketReply =
  | { readonly id: number; readonly descriptor: number }
  | { readonly id: number; readonly code: string };

export const AF_UNIX = 1;
export const AF_INET = 2;
export const AF_INET6 = 10;
