"""In which order a model's template renders fragments, as far as renders of marked conversations show it."""
