// A document of its own: an object around one of the three objects, under its name (section 2).

import { capabilitiesFaults } from "./capabilities.mjs";
import { Fault, pointerTo } from "./fault.mjs";
import { intentFaults } from "./intent.mjs";
import { isObject, unknownMembers } from "./shape.mjs";
import { statusFaults } from "./status.mjs";

const KINDS = new Map([
  ["cache_intent", { faultsOf: intentFaults, closed: true, repeated: "INT-10" }],
  ["cache_intent_capabilities", { faultsOf: capabilitiesFaults, closed: true, repeated: "CAP-7" }],
  ["cache_status", { faultsOf: statusFaults, closed: false, repeated: "STA-12" }],
]);

// Faults of a document that is to wrap an object of this kind. None: it is valid.
export function documentFaults(kind, document) {
  const { faultsOf, closed, repeated } = KINDS.get(kind);
  if (!isObject(document)) return [new Fault(null, "", "expected an object")];
  if (!document.has(kind)) return [new Fault(null, "", `${kind} is missing`)];
  const pointer = pointerTo("", kind);
  return [
    ...(document.repeated.has(kind) ? [new Fault(repeated, pointer, "the name occurs twice")] : []),
    ...(closed ? unknownMembers(null, [kind], document, "") : []),
    ...faultsOf(document.get(kind), pointer),
  ];
}
