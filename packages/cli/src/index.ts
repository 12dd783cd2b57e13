export { main } from "./main.ts";
export { processWorld, type World } from "./world.ts";
