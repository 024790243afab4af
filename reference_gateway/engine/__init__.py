"""An engine behind HTTP: what is forwarded, what comes back, what is learnt from it."""
