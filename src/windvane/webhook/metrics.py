"""What webhooks tell Prometheus: what was asked, how it was answered, and how long that took."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from windvane.histogram import Histogram

if TYPE_CHECKING:
    from prometheus_client import Metric


class WebhookMetrics:
    """Counts in plain numbers, collected whenever Prometheus asks."""

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, str, bool]] = Counter()
        """By webhook, operation, and whether it was allowed, or converted."""
        self.refused: Counter[int] = Counter()
        """What was no review, by the HTTP code of the answer."""
        self._seconds: dict[str, Histogram] = defaultdict(Histogram)

    def add(self, webhook: str, operation: str, seconds: float, *, allowed: bool) -> None:
        """One more answer."""
        self.answers[webhook, operation, allowed] += 1
        self._seconds[webhook].add(seconds)

    def collect(self) -> "Iterator[Metric]":
        """Everything, in the library's terms; called by its registry."""
        from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily

        answers = CounterMetricFamily(
            "windvane_webhook_requests",
            "Questions of the API server, by the answer.",
            labels=("webhook", "operation", "allowed"),
        )
        for (webhook, operation, allowed), count in self.answers.items():
            answers.add_metric((webhook, operation, str(allowed).lower()), count)
        seconds = HistogramMetricFamily("windvane_webhook_seconds", "How long answers took.", labels=("webhook",))
        for webhook, histogram in self._seconds.items():
            seconds.add_metric((webhook,), histogram.cumulative(), histogram.total)
        refused = CounterMetricFamily("windvane_webhook_refused", "Requests that were no questions.", labels=("code",))
        for code, count in self.refused.items():
            refused.add_metric((str(code),), count)
        yield from (answers, seconds, refused)
