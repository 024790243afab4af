"""From a plan to the one partition of an engine that has a salt per request."""
