"""Faulty and conforming implementations: small changes to our gateway, made from outside.

A fault is a sentence, the rules that it breaks, the checks that are meant to find it, and a patch of a few
lines. `python -m tests.faulty NAME ...` applies the patch in a process of its own and then runs the gateway
as it is; the shipped gateway knows nothing of any of this. A patch that no longer fits fails at start-up.
"""
