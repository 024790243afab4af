// Composition: the effective policy, and the namespace digest, of the state after each fragment (section 6).

import { namespaceDigest } from "./digest.mjs";
import { REUSES, SCOPES } from "./shape.mjs";

// The earlier of two words in a list that has the stricter ones first.
const earlier = (words) => (a, b) => (words.indexOf(a) <= words.indexOf(b) ? a : b);

export const narrower = earlier(SCOPES); // SHR-1, CMP-5
export const stricter = earlier(REUSES); // CMP-4

// CMP-2, CMP-3. A retention is {mode, maxAge}, where maxAge is a Decimal or null for no bound.
export function meetRetention(a, b) {
  if (a.mode === "forbid" || b.mode === "forbid") return { mode: "forbid", maxAge: null };
  return { mode: "allow", maxAge: smallest(a.maxAge, b.maxAge) };
}

function smallest(a, b) {
  if (a === null) return b;
  if (b === null) return a;
  return b.lessThan(a) ? b : a;
}

function meet(policy, { retention, reuse, share }) {
  if (policy === null) return { retention, reuse, share };
  return {
    retention: meetRetention(policy.retention, retention),
    reuse: stricter(policy.reuse, reuse),
    share: narrower(policy.share, share),
  };
}

// For the constraints of each fragment, or null for one without an intent: {policy, digest} of the state after it. The
// policy is {retention, reuse, share}, or null where nothing contributed (CMP-6); the digest is null where no namespace
// did (DIG-3).
export function statesAfter(fragments) {
  let policy = null;
  const namespaces = [];
  return fragments.map((constraints) => {
    if (constraints !== null) {
      policy = meet(policy, constraints);
      if (constraints.namespace !== null) namespaces.push(constraints.namespace);
    }
    return { policy, digest: namespaceDigest(namespaces) };
  });
}
