// Questions about the shape of parsed values which the three documents have in common.

import { Decimal } from "./decimal.mjs";
import { Fault, pointerTo } from "./fault.mjs";
import { JsonObject } from "./strict_json.mjs";

export const SCOPES = ["request", "session", "principal", "tenant", "public"]; // narrowest first (SHR-1)
export const REUSES = ["none", "exact", "approximate"]; // strictest first (CMP-4)
export const MODES = ["allow", "forbid"];
export const LONGEST_LABEL = 256;

export function isObject(value) {
  return value instanceof JsonObject;
}

// 60.0 and 6e1 count as integers (READ-11); a boolean is not a number.
export function isIntegerFrom(least, value) {
  return value instanceof Decimal && value.isInteger() && !value.lessThan(Decimal.of(least));
}

export function isOneOf(words, value) {
  return typeof value === "string" && words.includes(value);
}

// A string of 1 to 256 characters, which are code points here (READ-4) and not the language's UTF-16 units.
export function isLabel(value) {
  if (typeof value !== "string") return false;
  const length = Array.from(value).length;
  return length >= 1 && length <= LONGEST_LABEL;
}

// One fault for each name that occurs twice in one object, however deep.
export function repeatedNames(rule, value, pointer) {
  if (Array.isArray(value)) return value.flatMap((item, k) => repeatedNames(rule, item, pointerTo(pointer, k)));
  if (!isObject(value)) return [];
  const here = [...value.repeated].map((name) => new Fault(rule, pointerTo(pointer, name), "the name occurs twice"));
  const deeper = [...value.members].flatMap(([name, item]) => repeatedNames(rule, item, pointerTo(pointer, name)));
  return [...here, ...deeper];
}

export function unknownMembers(rule, known, object, pointer) {
  return object
    .names()
    .filter((name) => !known.includes(name))
    .map((name) => new Fault(rule, pointerTo(pointer, name), "unknown member"));
}

// Checks of the members of an object: [name, required, predicate, what would be right].
export function memberFaults(rule, table, object, pointer, missingRule = rule) {
  const faults = [];
  for (const [name, required, accepts, expected] of table) {
    if (!object.has(name)) {
      if (required) faults.push(new Fault(missingRule, pointer, `${name} is missing`));
    } else if (!accepts(object.get(name))) {
      faults.push(new Fault(rule, pointerTo(pointer, name), `expected ${expected}`));
    }
  }
  return faults;
}
