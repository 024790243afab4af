"""The cache-intent contract as values and pure functions: parse, validate, compose, digest. No I/O."""
