// The operations of the adapter protocol: what crosses the line, and the implementation behind it.

import { intersection, isAdmitted } from "./admission.mjs";
import { statesAfter } from "./compose.mjs";
import { Decimal } from "./decimal.mjs";
import { namespaceDigest } from "./digest.mjs";
import { documentFaults } from "./document.mjs";
import { isEligible } from "./eligibility.mjs";
import { hintReports } from "./hints.mjs";
import { REJECTED, intake } from "./intake.mjs";
import { constraintsOf, intentFaults } from "./intent.mjs";
import { SyntaxFault, parse } from "./strict_json.mjs";

// From the name of an operation to a function from its input to its result.
export const OPERATIONS = new Map([
  ["hello", hello],
  ["validate", validate],
  ["digest", digest],
  ["identity", identity],
  ["compose", compose],
  ["intake", take],
  ["hints", hints],
  ["eligible", eligible],
  ["admit", admit],
]);

function hello() {
  return { protocol: 1, name: "cache-intent-javascript", version: "1" };
}

function validate({ kind, base64 }) {
  try {
    const faults = documentFaults(kind, parse(Buffer.from(base64, "base64")));
    return { valid: faults.length === 0, pointers: [...new Set(faults.map((fault) => fault.pointer))] };
  } catch (error) {
    if (error instanceof SyntaxFault) return { valid: false, pointers: [""] };
    throw error;
  }
}

function digest({ namespaces }) {
  return { digest: namespaceDigest(namespaces) };
}

function identity({ same_input: sameInput, first, second }) {
  return { match: sameInput && namespaceDigest(first) === namespaceDigest(second) };
}

function compose({ fragments }) {
  const constraints = [];
  for (const [k, text] of fragments.entries()) {
    const { intent, refused } = text === null ? { intent: null } : read(text);
    if (refused) return { refused: `fragment ${k}: ${refused}` };
    constraints.push(intent === null ? null : constraintsOf(intent));
  }
  return { policies: statesAfter(constraints).map(written) };
}

// An intent from its text, or what is wrong with it.
function read(text) {
  try {
    const intent = parse(text);
    const [fault] = intentFaults(intent);
    return fault ? { refused: `${fault.pointer || "the intent"}: ${fault.message}` } : { intent };
  } catch (error) {
    if (error instanceof SyntaxFault) return { refused: error.message };
    throw error;
  }
}

function written({ policy, digest: namespaces }) {
  if (policy === null) return null;
  const { mode, maxAge } = policy.retention;
  return {
    retention: maxAge === null ? { mode } : { mode, max_age: String(maxAge) },
    reuse: policy.reuse,
    share_max: policy.share,
    ...(namespaces === null ? {} : { namespace_identity: namespaces }),
  };
}

function take({ intent: text, capabilities }) {
  const { intent, refused } = read(text);
  if (refused) return { result: REJECTED };
  return { result: intake(constraintsOf(intent), capabilities === null ? null : parse(capabilities)) };
}

function hints({ intent: text, reuse_within_max: maximum }) {
  const { intent, refused } = read(text);
  return refused ? { refused } : { reports: hintReports(intent, seconds(maximum)) };
}

function eligible({ materialized_at: materialised, max_age: maxAge, now }) {
  return { eligible: isEligible(seconds(materialised), seconds(now), seconds(maxAge)) };
}

function admit({ retained, requester }) {
  const state = {
    caller: retained,
    scope: retained.scope,
    digest: namespaceDigest(retained.namespaces),
    materialised: seconds(retained.materialized_at),
    maxAge: seconds(retained.max_age),
  };
  const request = {
    caller: requester,
    share: requester.share_max,
    digest: namespaceDigest(requester.namespaces),
    now: seconds(requester.now),
  };
  const mayRead = isAdmitted(state, request);
  return { may_read: mayRead, boundary: mayRead ? intersection(state, request) : null };
}

function seconds(digits) {
  return digits === null ? null : Decimal.parse(digits);
}
