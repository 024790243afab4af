"""What each kind of vector expects, one module for each family of kinds."""
