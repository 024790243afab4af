"""The instrumented engine: what a gateway under test forwards to, so that both ends of it can be seen.

It serves OpenAI's chat completions with vLLM's cache semantics, keeps a record of everything that reached it,
and misbehaves when told to. It runs no language model.
"""
