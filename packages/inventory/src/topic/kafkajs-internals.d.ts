declare module "kafkajs/src/network/requestQueue/index.js" {
  const Queue: { readonly prototype: object };
  export = Queue;
}
