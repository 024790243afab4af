"""Conformance and interoperability harness for the cache-intent contract, version 1."""

__version__ = "0.1.0"
