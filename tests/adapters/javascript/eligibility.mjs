// Whether retained state may still be reused by its age (RET-3, RET-6).

// Instants are Decimals of seconds on one monotonic clock; maxAge is a Decimal, or null for no bound. A bound of 0
// permits nothing, also where the clock says that the lookup came first.
export function isEligible(materialised, now, maxAge) {
  if (maxAge === null) return true;
  if (maxAge.isZero()) return false;
  return now.minus(materialised).lessThan(maxAge);
}
