"""Cases, checks, rules and readings in words, made from the data, so that the words can't drift from it."""
