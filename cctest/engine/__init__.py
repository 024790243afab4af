"""A block-hashed prefix cache with per-fragment partitions, lifetime bounds and a memory bound."""
