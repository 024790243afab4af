// Sharing boundaries: a scope with its outer coordinates, from the authenticated context of a caller (SHR-1).

const COORDINATES = new Map([
  ["request", ["tenant", "principal", "session", "request"]],
  ["session", ["tenant", "principal", "session"]],
  ["principal", ["tenant", "principal"]],
  ["tenant", ["tenant"]],
  ["public", []],
]);

// The scope that a caller gets who asks for one: without a session, "session" means "request".
export function scopeFor(scope, caller) {
  return scope === "session" && caller.session === null ? "request" : scope;
}

// Whether a caller is inside the boundary of this scope around another. Callers are {tenant, principal, session,
// request}, with null for no session. Each coordinate is compared by itself: joined names would mix them up.
export function isInside(scope, owner, caller) {
  return COORDINATES.get(scopeFor(scope, owner)).every((name) => owner[name] === caller[name]);
}
