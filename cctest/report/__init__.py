"""What a run came to, for people and for machines: terminal, JSON and JUnit from one value."""
