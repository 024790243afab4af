"""Vectors: input as data, with what the contract says a conforming implementation makes of it."""
