"""The command line: option parsing, and which exit code a run ends in."""
