"""What the gateway costs, measured. Nothing here is a test."""
