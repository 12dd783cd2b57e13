export { parseFibTrie, parseIfInet6 } from "./addresses.ts";
export { type InterfaceSource, readHostInterfaces, readInterfaces } from "./interface-reader.ts";
export { parseInterfaces } from "./interfaces.ts";
export { findNodeNamespace, type NodeNamespace } from "./node-namespace.ts";
export { SocketTables } from "./socket-tables.ts";
export { parseSockets, type SocketRow, type SocketTable, uniqueSockets } from "./sockets.ts";
