import { TrawlerError } from "@trawler/plugin-api";
import { grpcError } from "./errors.ts";
import { parseProto } from "./proto.ts";

/** Largest message that is taken, as the kubelet does. */
const MAX_MESSAGE = 16 * 1024 * 1024;

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; default 10,000. */
  readonly timeout?: number;
}

/** A gRPC connection over a unix socket. Int64 and enums come as strings, field names in camel case. */
export interface GrpcConnection extends Disposable {
  call<R>(method: string, request: object, options?: CallOptions): Promise<R>;
  /** The call is made at once, before the first `next`; messages wait with flow control. */
  stream<R>(method: string, request: object, signal: AbortSignal): AsyncIterable<R>;
}

export interface GrpcTarget {
  /** Absolute path of the socket. */
  readonly socket: string;
  readonly proto: string;
  /** Full name: `runtime.v1.RuntimeService`. */
  readonly service: string;
  /** Absent fields come as their default (true) or stay absent. */
  readonly defaults: boolean;
}

/** Opens a connection lazily: nothing is sent before the first call. The gRPC packages load on first use. */
export async function openGrpc(target: GrpcTarget): Promise<GrpcConnection> {
  const [grpc, loader] = await Promise.all([import("@grpc/grpc-js"), import("@grpc/proto-loader")]);
  const { defaults } = target;
  const protocol = loader.fromJSON(parseProto(target.proto), { longs: String, enums: String, defaults });
  const client = new grpc.Client(`unix://${target.socket}`, grpc.credentials.createInsecure(), {
    "grpc.max_receive_message_length": MAX_MESSAGE,
    "grpc.enable_http_proxy": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.enable_retries": 0,
  });
  const service = protocol[target.service];

  const method = (name: string) => {
    const found = service !== undefined && name in service ? Reflect.get(service, name) : undefined;
    if (found === undefined) throw new TrawlerError("TRAWLER_UNSUPPORTED", `no method ${name} in ${target.service}`);
    return found as import("@grpc/proto-loader").MethodDefinition<object, object>;
  };

  return {
    call<R>(name: string, request: object, options: CallOptions = {}): Promise<R> {
      const { path, requestSerialize, responseDeserialize } = method(name);
      const { signal, timeout = 10_000 } = options;
      return new Promise<R>((resolve, reject) => {
        signal?.throwIfAborted();
        const cancel = () => pending.cancel();
        const pending = client.makeUnaryRequest(
          path,
          requestSerialize,
          // The shape is what the protocol text says; the callers' types repeat it.
          (bytes) => responseDeserialize(bytes) as R,
          request,
          { deadline: Date.now() + timeout },
          (error, value) => {
            signal?.removeEventListener("abort", cancel);
            if (error !== null) reject(signal?.aborted ? signal.reason : grpcError(error, name, target.socket));
            else if (value === undefined) reject(new TrawlerError("TRAWLER_RETRY", `${name}: empty answer`));
            else resolve(value);
          },
        );
        signal?.addEventListener("abort", cancel, { once: true });
      });
    },

    stream<R>(name: string, request: object, signal: AbortSignal): AsyncIterable<R> {
      const { path, requestSerialize, responseDeserialize } = method(name);
      signal.throwIfAborted();
      const call = client.makeServerStreamRequest(
        path,
        requestSerialize,
        (bytes) => responseDeserialize(bytes) as R,
        request,
      );
      const cancel = () => call.cancel();
      signal.addEventListener("abort", cancel, { once: true });
      // The client emits an error without destroying the stream: kept here, thrown once all messages are read.
      let failure: unknown;
      call.on("error", (error) => {
        failure = grpcError(error, name, target.socket);
        call.destroy();
      });
      return {
        async *[Symbol.asyncIterator]() {
          try {
            for await (const message of call) yield message as R;
          } catch (error) {
            failure ??= grpcError(error, name, target.socket);
          } finally {
            signal.removeEventListener("abort", cancel);
            call.cancel();
          }
          if (failure !== undefined) throw signal.aborted ? signal.reason : failure;
        },
      };
    },

    [Symbol.dispose]() {
      client.close();
    },
  };
}
