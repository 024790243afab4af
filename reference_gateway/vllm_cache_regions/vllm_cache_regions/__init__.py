"""Several cache salts in one request of vLLM: a boundary of sharing partway through the input.

vLLM skips a general plugin whose import fails and starts without it. So this module imports nothing, and
everything that can fail does so in `register()`, which vLLM lets abort the start.
"""

VERSION = "0.1.0"


def register() -> None:
    """Patch vLLM in this process and check the patches; called by vLLM in each of its processes.

    Raises UnsupportedVllmError, which ends the start of the server, if anything is not as expected.
    """
    from vllm_cache_regions.installation import install  # noqa: PLC0415 - see above

    install()
