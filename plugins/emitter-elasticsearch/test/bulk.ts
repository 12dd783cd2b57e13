import type { HttpReply, ReceivedRequest } from "@trawler/testkit";

/** What a cluster says of one document, in the shape of the bulk API. */
export interface ItemReply {
  readonly status: number;
  readonly error?: { readonly type: string; readonly reason: string };
}

/** The actions of a bulk request. */
export function actionsOf({ text }: ReceivedRequest): readonly { readonly _index: string; readonly _id: string }[] {
  return text
    .split("\n")
    .filter((line) => line.startsWith('{"create":'))
    .map((line) => JSON.parse(line).create);
}

/** Answers a bulk request item by item; `of` tells about one id. */
export function took(of: (id: string, count: number) => ItemReply = () => ({ status: 201 })) {
  return (request: ReceivedRequest, count: number): HttpReply => {
    const items = actionsOf(request).map(({ _id }) => ({ create: of(_id, count) }));
    const errors = items.some(({ create }) => create.status >= 300);
    return { status: 200, text: JSON.stringify({ errors, items }) };
  };
}
