export { boundAnswer, type ConnectionOptions, speak } from "./connection.ts";
export { milliseconds } from "./duration.ts";
export { type Encrypted, encrypt, type TlsOptions } from "./encrypt.ts";
export {
  type Endpoint,
  type Endpoints,
  endpointOf,
  findEndpoints,
  keyOf,
  type Server,
  type Sighting,
} from "./endpoints.ts";
export { type Parsed, parseExposition, type Sample } from "./exposition.ts";
export { type Failure, failureOf, STATES, type State, tell } from "./failure.ts";
export { type Answer, get, type Question } from "./http.ts";
export { locate } from "./locate.ts";
