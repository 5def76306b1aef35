/**
 * State in a link: JSON, deflated, base64url, after `#<panel>.`. Nothing is sent: what stands after
 * the hash never leaves the browser.
 */

/** Characters of a hash. Beyond it chat programs and trackers cut links off. */
export const MAX_LINK = 16_000;

/** Bytes of a state, read from a link: a small link must not fill the memory. */
const MAX_STATE = 8_388_608;

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream, limit: number): Promise<Uint8Array> {
  const piped = new Blob([bytes as BlobPart]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array, Uint8Array>);
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = piped.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > limit) {
      await reader.cancel();
      throw new Error("too large");
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The hash for a panel's state, and whether it is short enough for a link. */
export async function toHash(panel: string, state: unknown): Promise<{ hash: string; fits: boolean }> {
  const bytes = new TextEncoder().encode(JSON.stringify(state));
  if (bytes.length > MAX_STATE) return { hash: "", fits: false };
  const deflated = await through(bytes, new CompressionStream("deflate-raw"), MAX_STATE);
  if (deflated.length > MAX_LINK) return { hash: "", fits: false };
  const text = btoa(String.fromCharCode(...deflated)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  const hash = `#${panel}.${text}`;
  return { hash, fits: hash.length <= MAX_LINK };
}

/** What a link's text holds. Throws if it cannot be read. */
export async function stateIn(text: string): Promise<unknown> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const inflated = await through(bytes, new DecompressionStream("deflate-raw"), MAX_STATE);
  return JSON.parse(new TextDecoder().decode(inflated)) as unknown;
}
