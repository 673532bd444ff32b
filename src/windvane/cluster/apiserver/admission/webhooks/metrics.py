"""Prometheus metrics of admission webhooks, under the names that dashboards for Kubernetes use."""

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from windvane.histogram import Histogram

if TYPE_CHECKING:
    from prometheus_client import Metric

LARGEST_CODE = 600
CALLING, INTERNAL, NONE = "calling_webhook_error", "apiserver_internal_error", "no_error"
WEBHOOK = ("name", "type", "operation")


class WebhookMetrics:
    """Counts calls of webhooks, their durations and results. `type` is admit or validating."""

    def __init__(self) -> None:
        self._requests: Counter[tuple[str, ...]] = Counter()
        self._rejections: Counter[tuple[str, ...]] = Counter()
        self._open: Counter[tuple[str, str]] = Counter()
        self._durations: dict[tuple[str, ...], Histogram] = {}

    def count_call(self, webhook: tuple[str, str, str], seconds: float, code: int, *, rejected: bool) -> None:
        """Count a call; its `code` is 200, or that of the refusal."""
        word = "true" if rejected else "false"
        self._requests[*webhook, str(min(code, LARGEST_CODE)), word] += 1
        self._durations.setdefault((*webhook, word), Histogram()).add(seconds)

    def count_rejection(self, webhook: tuple[str, str, str], error: str, code: int) -> None:
        """Count a request that was refused because of a webhook."""
        self._rejections[*webhook, error, str(min(code, LARGEST_CODE))] += 1

    def count_failed_open(self, name: str, type_: str) -> None:
        """Count a webhook that failed and was ignored."""
        self._open[name, type_] += 1

    def collect(self) -> "Iterator[Metric]":
        """All metrics for the library."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        prefix = "apiserver_admission_webhook"
        seconds = HistogramMetricFamily(
            f"{prefix}_admission_duration_seconds", "How long webhooks took.", labels=(*WEBHOOK, "rejected")
        )
        for labels, durations in self._durations.items():
            seconds.add_metric(labels, durations.cumulative(), durations.total)
        yield seconds
        requests = CounterMetricFamily(
            f"{prefix}_request_total", "Webhooks asked.", labels=(*WEBHOOK, "code", "rejected")
        )
        for labels, number in self._requests.items():
            requests.add_metric(labels, number)
        yield requests
        # As counters, the library would insist on names that end in _total.
        rejections = GaugeMetricFamily(
            f"{prefix}_rejection_count", "Requests refused.", labels=(*WEBHOOK, "error_type", "rejection_code")
        )
        for labels, number in self._rejections.items():
            rejections.add_metric(labels, number)
        yield rejections
        failed_open = GaugeMetricFamily(f"{prefix}_fail_open_count", "Failures passed over.", labels=("name", "type"))
        for pair, number in self._open.items():
            failed_open.add_metric(pair, number)
        yield failed_open
