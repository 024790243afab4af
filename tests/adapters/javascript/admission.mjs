// Whether retained state is admitted to a later request, and what becomes of its boundary (section 7.1).

import { isInside, scopeFor } from "./boundary.mjs";
import { narrower } from "./compose.mjs";
import { isEligible } from "./eligibility.mjs";

// `state` is {caller, scope, digest, materialised, maxAge}, as it was recorded; `request` is {caller, share, digest,
// now}. The input and the execution identity are taken for equal. The requester's own share bounds what it publishes,
// and neither opens nor closes what was kept (POL-3, READ-12).
export function isAdmitted(state, request) {
  return (
    isInside(state.scope, state.caller, request.caller) &&
    state.digest === request.digest &&
    isEligible(state.materialised, request.now, state.maxAge)
  );
}

// POL-4: the scope of what an admitted request computes from the state. It is inside the recorded boundary, so that the
// two boundaries are nested and the narrower scope is the intersection.
export function intersection(state, request) {
  return narrower(scopeFor(state.scope, state.caller), scopeFor(request.share, request.caller));
}
