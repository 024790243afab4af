"""What reached the engine, by its own record, request by request.

The steps of a cell come one after another and share texts that nobody else has, so an entry belongs to
the first step of its cell that was complete after it arrived. No clocks are compared.
"""

import threading
from collections.abc import Iterable

from cctest.instrument.bodytext import holds
from cctest.instrument.client import Engine, EngineRecord
from cctest.probe.prompt import BuiltRequest, Setting, words


class Ledger:
    """The record of one instrumented engine, read as far as needed. Safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._lock = threading.Lock()
        self._entries: dict[int, EngineRecord] = {}
        self._latest = engine.about().latest

    @property
    def latest(self) -> int:
        """The number of the latest entry that was read."""
        with self._lock:
            return self._latest

    def entries(self, setting: Setting, built: BuiltRequest, after: int) -> tuple[EngineRecord, ...]:
        """Give the entries with numbers above `after` that hold a text of this cell. Raises TargetProblem."""
        markers = _markers(setting, built)
        with self._lock:
            self._refresh()
            numbers = range(after + 1, self._latest + 1)
            fresh = [self._entries[number] for number in numbers if number in self._entries]
        return tuple(entry for entry in fresh if any(holds(entry.body, marker) for marker in markers))

    @property
    def ever_reused(self) -> bool:
        """Whether any request of the run reused anything."""
        with self._lock:
            self._refresh()
            return any(entry.cached_tokens for entry in self._entries.values() if entry.asks_for_answer)

    @property
    def computed(self) -> int:
        """How many requests the engine computed for this run."""
        with self._lock:
            computed = (entry for entry in self._entries.values() if entry.prompt_tokens is not None)
            return sum(entry.asks_for_answer for entry in computed)

    def _refresh(self) -> None:
        """Read what is new, and again what was still being served when it was read last."""
        unfinished = (number for number, entry in self._entries.items() if entry.ended is None)
        for entry in self.engine.entries(min(unfinished, default=self._latest + 1) - 1):
            self._entries[entry.number] = entry
            self._latest = max(self._latest, entry.number)


def _markers(setting: Setting, built: BuiltRequest) -> Iterable[str]:
    """Beginnings of the request's texts, long enough to be nobody else's."""
    names = {fragment.text for fragment in built.fragments} or set(setting.case.texts)
    return {words(setting.text_nonce, name, 6) for name in names}
