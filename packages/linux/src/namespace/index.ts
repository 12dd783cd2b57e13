export { type ConnectMember, type ConnectOptions, type ConnectTarget, NamespaceConnector } from "./connector.ts";
