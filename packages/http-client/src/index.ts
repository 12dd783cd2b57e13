export { judge, parseRetryAfter, type Verdict } from "./answer.ts";
export { type Answer, createSender, type Sender } from "./sender.ts";
export { type SenderSettings, senderSettings } from "./settings.ts";
