// The capabilities object: its shape (CAP-7).

import { Decimal } from "./decimal.mjs";
import { Fault, pointerTo } from "./fault.mjs";
import {
  MODES,
  REUSES,
  SCOPES,
  isIntegerFrom,
  isObject,
  isOneOf,
  memberFaults,
  repeatedNames,
  unknownMembers,
} from "./shape.mjs";

const isBoolean = (value) => typeof value === "boolean";
const isVersion = (value) => isIntegerFrom(1, value);
const wordOutOf = (words) => (value) => isOneOf(words, value);

const CAPABILITIES = [
  ["versions", true, Array.isArray, "an array"],
  ["constraints", true, isObject, "an object"],
  ["on_unenforceable", true, wordOutOf(["reject", "bypass"]), "reject or bypass"],
  ["status", false, isBoolean, "a boolean"],
  ["per_fragment_share", false, isBoolean, "a boolean"],
  ["hints", false, isObject, "an object"],
];
const CONSTRAINTS = [
  ["retention_modes", false, Array.isArray, "an array"],
  ["retention_max_age", false, isBoolean, "a boolean"],
  ["reuse", false, Array.isArray, "an array"],
  ["share_max", false, Array.isArray, "an array"],
  ["namespace", false, isBoolean, "a boolean"],
];
const HINTS = [["reuse_within_max", false, (value) => isIntegerFrom(0, value), "an integer of 0 or more"]];

// Faults of the object without its wrapper. None: it has the shape.
export function capabilitiesFaults(capabilities, pointer = "") {
  if (!isObject(capabilities)) return [new Fault("CAP-7", pointer, "expected an object")];
  return [
    ...repeatedNames("CAP-7", capabilities, pointer),
    ...closedFaults(CAPABILITIES, capabilities, pointer),
    ...listFaults(isVersion, capabilities, "versions", pointer),
    ...constraintsFaults(capabilities.get("constraints"), pointerTo(pointer, "constraints")),
    ...hintsFaults(capabilities.get("hints"), pointerTo(pointer, "hints")),
  ];
}

function constraintsFaults(constraints, pointer) {
  if (!isObject(constraints)) return [];
  return [
    ...closedFaults(CONSTRAINTS, constraints, pointer),
    ...listFaults(wordOutOf(MODES), constraints, "retention_modes", pointer),
    ...listFaults(wordOutOf(REUSES), constraints, "reuse", pointer),
    ...listFaults(wordOutOf(SCOPES), constraints, "share_max", pointer),
  ];
}

function hintsFaults(hints, pointer) {
  return isObject(hints) ? memberFaults("CAP-7", HINTS, hints, pointer) : [];
}

function closedFaults(table, object, pointer) {
  const known = table.map(([name]) => name);
  return [...unknownMembers("CAP-7", known, object, pointer), ...memberFaults("CAP-7", table, object, pointer)];
}

// An array is not empty, each item is right, and none occurs twice.
function listFaults(accepts, object, name, pointer) {
  const list = object.get(name);
  if (!Array.isArray(list)) return [];
  const here = pointerTo(pointer, name);
  const faults = [...list.keys()]
    .filter((k) => !accepts(list[k]))
    .map((k) => new Fault("CAP-7", pointerTo(here, k), "no such item"));
  if (list.length === 0) faults.push(new Fault("CAP-7", here, "expected an item or more"));
  if (list.some((item, k) => list.slice(0, k).some((other) => same(item, other)))) {
    faults.push(new Fault("CAP-7", here, "an item occurs twice"));
  }
  return faults;
}

function same(a, b) {
  return a === b || (a instanceof Decimal && b instanceof Decimal && a.equals(b));
}
