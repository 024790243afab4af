"""Counts for Prometheus (`/metrics`), with labels of closed vocabularies only.

They are plain numbers that the event loop adds to; families are made of them when somebody asks.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from cctest.contract.vocabulary import Outcome
from reference_gateway.telemetry.exchange import Exchange, Route

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_PREFIX: Final = "reference_gateway"


class Durations:
    """A histogram of seconds."""

    __slots__ = ("_counts", "_sum")

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect_left(_BOUNDS, seconds)] += 1
        self._sum += seconds

    def buckets(self) -> tuple[list[tuple[str, float]], float]:
        """Give the cumulative counts by upper bound, and the sum."""
        names = [*map(str, _BOUNDS), "+Inf"]
        total, buckets = 0, []
        for name, count in zip(names, self._counts, strict=True):
            total += count
            buckets.append((name, float(total)))
        return buckets, self._sum


class Metrics(Collector):
    """What the gateway counts."""

    def __init__(self) -> None:
        self.in_progress = 0
        self.gauges: dict[str, tuple[str, Callable[[], float]]] = {}
        """Numbers that are asked for at each scrape: name without prefix to help text and source."""
        self.counters: dict[str, tuple[str, Callable[[], float]]] = {}
        self._requests: Counter[tuple[str, Route, int]] = Counter()
        self._errors: Counter[str] = Counter()
        self._outcomes: Counter[Outcome] = Counter()
        self._turned_away: Counter[str] = Counter()
        self._durations = {route: Durations() for route in Route}
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def ended(self, exchange: Exchange, seconds: float) -> None:
        """Count an exchange that is over."""
        self._requests[exchange.method, exchange.route, exchange.status // 100] += 1
        self._durations[exchange.route].add(seconds)
        if exchange.code is not None:
            self._errors[exchange.code] += 1

    def observed(self, outcomes: Iterable[Outcome]) -> None:
        """Count what became of fragments."""
        self._outcomes.update(outcomes)

    def turned_away(self, reason: str) -> None:
        """Count a connection that was closed before there was a request."""
        self._turned_away[reason] += 1

    def text(self) -> bytes:
        """Give all in Prometheus' text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Make the families."""
        requests = CounterMetricFamily(
            f"{_PREFIX}_requests", "Requests answered.", labels=("method", "route", "status")
        )
        for (method, route, status), count in list(self._requests.items()):
            requests.add_metric((method, route.value, f"{status}xx" if status else "none"), count)
        yield requests
        seconds = HistogramMetricFamily(
            f"{_PREFIX}_request_seconds",
            "Time from the head of a request to the end of its response.",
            labels=("route",),
        )
        for route in {route for _, route, _ in list(self._requests)}:
            seconds.add_metric((route.value,), *self._durations[route].buckets())
        yield seconds
        yield _counted("errors", "Errors told to callers, by code.", "code", self._errors)
        yield _counted("fragments", "Governed fragments, by outcome.", "outcome", self._outcomes)
        yield _counted("connections_closed", "Connections closed on callers.", "reason", self._turned_away)
        yield GaugeMetricFamily(f"{_PREFIX}_requests_in_progress", "Requests being served.", self.in_progress)
        for name, (text, source) in self.counters.items():
            yield CounterMetricFamily(f"{_PREFIX}_{name}", text, source())
        for name, (text, source) in self.gauges.items():
            yield GaugeMetricFamily(f"{_PREFIX}_{name}", text, source())


def _counted(name: str, text: str, label: str, counts: Counter[str] | Counter[Outcome]) -> Metric:
    family = CounterMetricFamily(f"{_PREFIX}_{name}", text, labels=(label,))
    for value, count in list(counts.items()):
        family.add_metric((str(value),), count)
    return family
