"""Engines in this process: the embedded one, a model of an engine with salts only, and none at all."""
