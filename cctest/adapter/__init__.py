"""Implementations in any language behind a process that speaks JSON lines (`spec/adapter.md`)."""
