import { kubernetesEnvironment } from "./definition.ts";
import { realWorld } from "./world.ts";

export default kubernetesEnvironment((config, host) => realWorld(config, host, process.env));
