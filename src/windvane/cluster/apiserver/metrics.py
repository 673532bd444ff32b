"""The server's Prometheus metrics at `/metrics`, under the names that dashboards for Kubernetes use.

Requests are counted in plain dictionaries, and become Prometheus' metrics when they are scraped: a server that is not
scraped doesn't load the library, which would slow down its start.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.storage.store import Store
from windvane.histogram import Histogram

if TYPE_CHECKING:
    from prometheus_client import Metric

REQUEST = ("verb", "group", "version", "resource", "subresource")
Request = tuple[str, str, str, str, str]


class Metrics:
    """The metrics of one server: two servers in one process have their own."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._requests: Counter[tuple[*Request, str]] = Counter()
        self._durations: dict[Request, Histogram] = {}
        self.others: list[Callable[[], Iterator[Metric]]] = []
        """More metrics, of parts of the server that keep their own."""

    def count(self, request: Request, code: int, seconds: float) -> None:
        """One request was answered."""
        self._requests[*request, str(code)] += 1
        if request[0] != "watch":
            if (durations := self._durations.get(request)) is None:
                durations = self._durations[request] = Histogram()
            durations.add(seconds)

    def collect(self) -> "Iterator[Metric]":
        """All metrics; called by the library's registry."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        requests = CounterMetricFamily("apiserver_request", "Requests answered.", labels=(*REQUEST, "code"))
        for labels, number in self._requests.items():
            requests.add_metric(labels, number)
        yield requests
        seconds = HistogramMetricFamily(
            "apiserver_request_duration_seconds", "How long answers took, watches left out.", labels=REQUEST
        )
        for request, durations in self._durations.items():
            seconds.add_metric(request, durations.cumulative(), durations.total)
        yield seconds
        yield GaugeMetricFamily("windvane_store_revision", "The number of the last record.", self._store.revision)
        yield GaugeMetricFamily("windvane_store_floor", "The oldest revision to watch from.", self._store.floor)
        for collect in self.others:
            yield from collect()

    def answer(self) -> Answer:
        """The page that Prometheus reads."""
        from prometheus_client import CollectorRegistry
        from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

        registry = CollectorRegistry()
        registry.register(self)
        return Answer(200, generate_latest(registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
