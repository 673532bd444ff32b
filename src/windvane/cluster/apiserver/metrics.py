"""What the server tells Prometheus about itself at `/metrics`, under the names that dashboards for Kubernetes know."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from windvane.cluster.apiserver.answer import Answer
from windvane.cluster.apiserver.store.store import Store

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
REQUEST = ("verb", "group", "version", "resource", "subresource")


class Metrics:
    """Counters of one server, in a registry of its own: two servers in one process don't count for each other."""

    def __init__(self, store: Store) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "apiserver_request_total", "Requests answered.", (*REQUEST, "code"), registry=self._registry
        )
        self._seconds = Histogram(
            "apiserver_request_duration_seconds",
            "How long answers took, watches left out.",
            REQUEST,
            buckets=BUCKETS,
            registry=self._registry,
        )
        revision = Gauge("windvane_store_revision", "The number of the last record.", registry=self._registry)
        revision.set_function(lambda: store.revision)
        floor = Gauge("windvane_store_floor", "The oldest revision to watch from.", registry=self._registry)
        floor.set_function(lambda: store.floor)

    def count(self, request: tuple[str, str, str, str, str], code: int, seconds: float) -> None:
        """One request was answered."""
        self._requests.labels(*request, str(code)).inc()
        if request[0] != "watch":
            self._seconds.labels(*request).observe(seconds)

    def answer(self) -> Answer:
        """The page that Prometheus reads."""
        return Answer(200, generate_latest(self._registry), content_type=CONTENT_TYPE_PLAIN_0_0_4)
