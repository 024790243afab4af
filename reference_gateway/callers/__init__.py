"""Who may call, how much, and how fast: credentials, limits, connections."""
