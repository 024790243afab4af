"""Coverage: which rules the suite exercises, and what given runs showed of each; computed, never declared."""
