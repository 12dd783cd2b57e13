export { judge, parseRetryAfter, type Verdict } from "./answer.ts";
export { createDelivery, type Delivery, type DeliveryOptions } from "./delivery.ts";
export { type Answer, createSender, type Message, readText, type Sender } from "./sender.ts";
export { type SenderSettings, senderSettings } from "./settings.ts";
