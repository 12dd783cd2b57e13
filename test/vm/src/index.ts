export { buildGuest } from "./build-disk.ts";
