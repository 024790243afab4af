"""Talking to someone else's HTTP server: exchanges, what comes back, and how it is told to people."""
