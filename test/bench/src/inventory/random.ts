/** Numbers from 0 to 1, the same ones for the same seed (xorshift). */
export function generator(seed: number): () => number {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 4_294_967_296;
  };
}

export function hex(random: () => number, length: number): string {
  let text = "";
  while (text.length < length)
    text += Math.floor(random() * 4_294_967_296)
      .toString(16)
      .padStart(8, "0");
  return text.slice(0, length);
}
