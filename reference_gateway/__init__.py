"""The reference gateway: the binding of the cache-intent contract to OpenAI Chat Completions."""
