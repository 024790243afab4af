"""From the bytes of a chat body to its fragments and their intents, and JSON texts changed in place."""
