"""Whether every member of version 1 is worth its place, found out from what an implementation does."""
