"""Mutants: our own implementation broken on purpose, to see the suite turn red for it."""
