// What a status reports of the hints of an intent (STA-9, STA-10).

import { isIntegerFrom, isObject } from "./shape.mjs";

// By the name of the hint: "accepted", "clipped" or "ignored". Hints that are not advertised are left out (READ-20);
// `reuseWithinMax` is null where reuse_within is not. A value of it that makes no sense is ignored (READ-26).
export function hintReports(intent, reuseWithinMax) {
  const hints = intent.get("hints");
  if (!isObject(hints) || !hints.has("reuse_within") || reuseWithinMax === null) return {};
  const value = hints.get("reuse_within");
  if (!isIntegerFrom(0, value)) return { reuse_within: "ignored" };
  return { reuse_within: reuseWithinMax.lessThan(value) ? "clipped" : "accepted" };
}
