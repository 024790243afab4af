// Which constraints of a valid intent, or of a composed policy, are beyond what an implementation advertises (CAP-3).

import { REUSES, SCOPES } from "./shape.mjs";

// The names of the constraints beyond reach, out of retention, max_age, reuse, share_max and namespace. Where only
// something stricter is listed, that serves (INT-1): "none" for "exact", a narrower scope for a wider one (READ-7,
// READ-27). `constraints` is {retention, reuse, share, namespace}; `capabilities` is valid and without its wrapper.
export function beyondReach({ retention, reuse, share, namespace }, capabilities) {
  const listed = capabilities.get("constraints");
  const words = (name) => listed.get(name) ?? [];
  const modes = words("retention_modes");
  const reach = {
    retention: retention.mode === "allow" ? modes.length > 0 : modes.includes("forbid"),
    max_age: retention.maxAge === null || listed.get("retention_max_age") === true,
    reuse: someAtMost(REUSES, reuse, words("reuse")),
    share_max: someAtMost(SCOPES, share, words("share_max")),
    namespace: namespace === null || listed.get("namespace") === true,
  };
  return Object.keys(reach).filter((name) => !reach[name]);
}

// Whether one of the listed words is the one asked for or a stricter one. The order has the stricter ones first.
function someAtMost(order, asked, listed) {
  return listed.some((word) => order.indexOf(word) <= order.indexOf(asked));
}
