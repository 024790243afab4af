"""Live proof: the gateway in front of a real vLLM, with a model made on the spot. Run by `make live`."""
