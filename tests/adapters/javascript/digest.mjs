// The namespace digest, byte for byte (DIG-1 to DIG-3).

import { createHash } from "node:crypto";

const UTF8 = new TextEncoder();

// Of namespaces in fragment order, duplicates kept: 64 lowercase hexadecimal digits, or null where there are none.
// Throws where a namespace has no UTF-8 form; the encoder would put another character in its place.
export function namespaceDigest(namespaces) {
  if (namespaces.length === 0) return null;
  const hash = createHash("sha256");
  for (const namespace of namespaces) {
    if (!namespace.isWellFormed()) throw new RangeError("a namespace with a lone surrogate");
    const octets = UTF8.encode(namespace);
    hash.update(UTF8.encode(`${octets.length}:`));
    hash.update(octets);
  }
  return hash.digest("hex");
}
