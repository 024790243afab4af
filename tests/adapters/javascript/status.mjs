// The status: the shape of its entries (STA-12), which all say that the constraints were satisfied (STA-8).

import { Fault, pointerTo } from "./fault.mjs";
import { SCOPES, isLabel, isObject, isOneOf, memberFaults, repeatedNames, unknownMembers } from "./shape.mjs";

const OUTCOMES = ["bypass", "miss", "exact_hit", "approximate_hit", "unobserved"];
const RETENTIONS = ["forbidden", "declined", "retained", "unobserved"];
const HINT_RESULTS = ["accepted", "clipped", "ignored"];

const ENTRY = [
  ["outcome", true, (value) => isOneOf(OUTCOMES, value), "an outcome"],
  ["id", false, isLabel, "a string of 1 to 256 characters"],
  ["effective_share", false, (value) => isOneOf(SCOPES, value), "one of the five scopes"],
  ["retention", false, (value) => isOneOf(RETENTIONS, value), "forbidden, declined, retained or unobserved"],
  ["hints", false, isObject, "an object"],
];
const RESULT = [["constraint_result", true, (value) => value === "satisfied", "satisfied"]];

// Faults of the array. None: it has the shape.
export function statusFaults(status, pointer = "") {
  if (!Array.isArray(status)) return [new Fault("STA-12", pointer, "expected an array")];
  return status.flatMap((entry, k) => entryFaults(entry, pointerTo(pointer, k)));
}

function entryFaults(entry, pointer) {
  if (!isObject(entry)) return [new Fault("STA-12", pointer, "expected an object")];
  const known = [...ENTRY, ...RESULT].map(([name]) => name);
  return [
    ...repeatedNames("STA-12", entry, pointer),
    ...unknownMembers("STA-12", known, entry, pointer),
    ...memberFaults("STA-12", ENTRY, entry, pointer),
    ...memberFaults("STA-8", RESULT, entry, pointer),
    ...hintFaults(entry.get("hints"), pointerTo(pointer, "hints")),
  ];
}

function hintFaults(hints, pointer) {
  if (!isObject(hints)) return [];
  return [...hints.members]
    .filter(([, result]) => !isOneOf(HINT_RESULTS, result))
    .map(([name]) => new Fault("STA-12", pointerTo(pointer, name), "expected accepted, clipped or ignored"));
}
