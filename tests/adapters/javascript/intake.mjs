// What becomes of a request with one intent on an implementation with given capabilities (sections 3 and 8).

import { Decimal } from "./decimal.mjs";
import { beyondReach } from "./reach.mjs";

export const SERVED = "served";
export const FALLBACK = "fresh_no_retention_fallback";
export const REJECTED = "reject";

const VERSION = Decimal.of(1);

// `constraints` are those of a valid intent of version 1; one at fault does not get here and is rejected (READ-5).
// `capabilities` is a valid object without its wrapper, or null for an implementation that can enforce everything.
export function intake(constraints, capabilities) {
  if (capabilities === null) return SERVED;
  if (!capabilities.get("versions").some((listed) => listed.equals(VERSION))) return REJECTED; // INT-4
  if (beyondReach(constraints, capabilities).length === 0) return SERVED;
  return capabilities.get("on_unenforceable") === "bypass" ? FALLBACK : REJECTED;
}
