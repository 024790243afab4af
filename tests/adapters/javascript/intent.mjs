// Intake of one intent: what is wrong with it, if anything, and its constraints if nothing is (sections 2.1 and 3.2).

import { Decimal } from "./decimal.mjs";
import { Fault, pointerTo } from "./fault.mjs";
import {
  MODES,
  REUSES,
  SCOPES,
  isIntegerFrom,
  isLabel,
  isObject,
  isOneOf,
  memberFaults,
  repeatedNames,
  unknownMembers,
} from "./shape.mjs";

const SUPPORTED = Decimal.of(1);

const VERSION = [["version", true, (value) => isIntegerFrom(1, value), "the integer 1"]];
const CONSTRAINTS = [
  ["retention", true, isObject, "an object"],
  ["reuse", true, (value) => isOneOf(REUSES, value), "none, exact or approximate"],
  ["share_max", true, (value) => isOneOf(SCOPES, value), "one of the five scopes"],
];
const RETENTION = [
  ["mode", true, (value) => isOneOf(MODES, value), "allow or forbid"],
  ["max_age", false, (value) => isIntegerFrom(0, value), "an integer of 0 or more"],
];

// Faults of the value of a member cache_intent, in the order in which they are told. None: it is valid.
export function intentFaults(intent, pointer = "") {
  if (!isObject(intent)) return [new Fault("INT-12", pointer, "expected an object")];
  if (isOtherVersion(intent)) return [new Fault("INT-4", pointerTo(pointer, "version"), "not supported")];
  return [
    ...repeatedNames("INT-10", intent, pointer),
    ...versionFaults(intent, pointer),
    ...unknownMembers("INT-9", ["version", "id", "constraints", "hints"], intent, pointer),
    ...labelFaults("INT-5", intent, "id", pointer),
    ...constraintsFaults(intent, pointer),
    ...hintsFaults(intent, pointer),
  ];
}

// A version that may be fine elsewhere. What else its intents have is unknown here, and no fault.
function isOtherVersion(intent) {
  if (intent.repeated.has("version")) return false;
  const version = intent.get("version");
  return isIntegerFrom(1, version) && !version.equals(SUPPORTED);
}

function versionFaults(intent, pointer) {
  return memberFaults("INT-12", VERSION, intent, pointer);
}

function labelFaults(rule, object, name, pointer) {
  if (!object.has(name)) return [];
  const value = object.get(name);
  if (isLabel(value)) return [];
  const broken = typeof value === "string" ? rule : "INT-12";
  return [new Fault(broken, pointerTo(pointer, name), "expected a string of 1 to 256 characters")];
}

function constraintsFaults(intent, pointer) {
  if (!intent.has("constraints")) return [new Fault("INT-8", pointer, "constraints is missing")];
  const here = pointerTo(pointer, "constraints");
  const constraints = intent.get("constraints");
  if (!isObject(constraints)) return [new Fault("INT-12", here, "expected an object")];
  return [
    ...unknownMembers("INT-7", [...CONSTRAINTS.map(([name]) => name), "namespace"], constraints, here),
    ...memberFaults("INT-12", CONSTRAINTS, constraints, here, "INT-8"),
    ...labelFaults("INT-6", constraints, "namespace", here),
    ...retentionFaults(constraints.get("retention"), pointerTo(here, "retention")),
  ];
}

function retentionFaults(retention, pointer) {
  if (!isObject(retention)) return [];
  const faults = [
    ...unknownMembers("INT-7", RETENTION.map(([name]) => name), retention, pointer),
    ...memberFaults("INT-12", RETENTION, retention, pointer, "INT-8"),
  ];
  if (retention.get("mode") === "forbid" && retention.has("max_age")) {
    faults.push(new Fault("INT-12", pointerTo(pointer, "max_age"), "no place beside forbid"));
  }
  return faults;
}

// Hints are open, and a value that makes no sense is ignored (INT-11, READ-26). They are an object, though.
function hintsFaults(intent, pointer) {
  if (!intent.has("hints") || isObject(intent.get("hints"))) return [];
  return [new Fault(null, pointerTo(pointer, "hints"), "expected an object")];
}

// The constraints of a valid intent: {retention: {mode, maxAge}, reuse, share, namespace}. What is absent is null.
export function constraintsOf(intent) {
  const constraints = intent.get("constraints");
  const retention = constraints.get("retention");
  return {
    retention: { mode: retention.get("mode"), maxAge: retention.get("max_age") ?? null },
    reuse: constraints.get("reuse"),
    share: constraints.get("share_max"),
    namespace: constraints.get("namespace") ?? null,
  };
}
