let last = 0;

/** A UUIDv7 (RFC 9562); later ones of this process are greater, whatever the clock does. */
export function uuid(now = Date.now()) {
  last = Math.max(now, last + 1);
  const bytes = new Uint8Array(16);
  // Node 18 has no global `crypto`. An id must be unique, not secret.
  if (globalThis.crypto) crypto.getRandomValues(bytes);
  else bytes.forEach((_, index) => bytes[index] = Math.random() * 256);
  for (let index = 0, rest = last; index < 6; index++, rest = Math.floor(rest / 256)) bytes[5 - index] = rest % 256;
  bytes[6] = 0x70 | (bytes[6] & 0x0f);
  bytes[8] = 0x80 | (bytes[8] & 0x3f);
  const text = Array.from(bytes, byte => byte.toString(16).padStart(2, "0")).join("");
  return [text.slice(0, 8), text.slice(8, 12), text.slice(12, 16), text.slice(16, 20), text.slice(20)].join("-");
}

/** Whether an id is a temporary one, made on a device. */
export const isTemporary = id => typeof id === "string" && id.startsWith("~");
