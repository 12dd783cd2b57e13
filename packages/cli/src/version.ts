/** The agent's version in frames and on the command line; a test holds it equal to that of package.json. */
export const VERSION = "0.1.0";
