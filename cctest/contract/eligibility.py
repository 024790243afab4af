"""For how long retained state may be reused (RET-3, RET-6)."""


def eligible(materialized_at: int | float, max_age: int | None, now: int | float) -> bool:
    """Tell whether state may still be read across requests as far as its age goes.

    The instants are readings of one monotonic clock (RET-7); all three arguments share one unit. `max_age`
    None sets no bound; 0 permits no reuse at all, even if the clock hasn't moved or was set back.
    """
    if max_age is None:
        return True
    # The age is compared rather than the expiry computed: a float plus a huge bound would overflow.
    return max_age > 0 and now - materialized_at < max_age
