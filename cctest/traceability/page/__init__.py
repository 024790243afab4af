"""The drafts as one HTML page on which each normative sentence shows what holds it."""
