"""What logs and metrics may know of an exchange, and nothing that names anybody."""
