"""What an operator tells Prometheus: queues and requests under Kubernetes' own names, passes under ours."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import Metric

    from windvane.runtime.manager import OperatorManager


class Metrics:
    """Collects from a running operator whenever it is asked."""

    def __init__(self, manager: "OperatorManager") -> None:
        self._manager = manager

    def collect(self) -> "Iterator[Metric]":
        """Everything, in the library's terms; called by its registry."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        passes = CounterMetricFamily(
            "windvane_passes", "Passes over objects, by how they ended.", labels=("controller", "result")
        )
        seconds = HistogramMetricFamily("windvane_pass_seconds", "How long passes took.", labels=("controller",))
        depth = GaugeMetricFamily("workqueue_depth", "Keys that are ready to be worked on.", labels=("name",))
        working = GaugeMetricFamily("workqueue_unfinished", "Keys that are being worked on.", labels=("name",))
        waited = HistogramMetricFamily(
            "workqueue_queue_duration_seconds", "How long keys were ready before they were worked on.", labels=("name",)
        )
        unsettled = CounterMetricFamily(
            "windvane_unsettled",
            "Writes and passes that an object which settles would not need.",
            labels=("controller",),
        )
        daemons = GaugeMetricFamily("windvane_daemons", "Daemons that run.", labels=("controller",))
        failures = CounterMetricFamily("windvane_daemon_failures", "How often daemons failed.", labels=("controller",))
        for controller in self._manager.controllers:
            name = controller.declaration.name
            daemons.add_metric((name,), len(controller.daemons))
            failures.add_metric((name,), controller.daemons.failures)
            unsettled.add_metric((name,), controller.budgets.overdrawn)
            for result, count in controller.results.items():
                passes.add_metric((name, result), count)
            seconds.add_metric((name,), controller.durations.cumulative(), controller.durations.total)
            depth.add_metric((name,), len(controller.queue))
            working.add_metric((name,), controller.queue.working)
            waited.add_metric((name,), controller.delays.cumulative(), controller.delays.total)
        yield from (daemons, failures, passes, seconds, unsettled, depth, working, waited)
        objects = GaugeMetricFamily("windvane_cache_objects", "Objects in the cache.", labels=("resource",))
        restarts = CounterMetricFamily("windvane_watch_restarts", "How often all was read anew.", labels=("resource",))
        for seen, informer in self._manager.informers.items():
            objects.add_metric((str(seen),), len(informer.cache))
            restarts.add_metric((str(seen),), informer.restarts)
        yield from (objects, restarts)
        requests = CounterMetricFamily("rest_client_requests", "Requests sent, by answer.", labels=("method", "code"))
        for (method, code), count in self._manager.requests.items():
            requests.add_metric((method, code), count)
        yield requests
        yield CounterMetricFamily(
            "windvane_events_dropped",
            "Events not written: there were too many.",
            self._manager.recorder.dropped,
        )
        yield GaugeMetricFamily("windvane_leading", "Whether this replica works.", int(self._manager.leading))
        checks = GaugeMetricFamily("windvane_ready", "Whether what /readyz looks at is well.", labels=("check",))
        for name, problem in self._manager.checks.items():
            checks.add_metric((name,), int(not problem))
        yield checks
        if self._manager.shards is not None:
            held = len(self._manager.shards.held)
            yield GaugeMetricFamily("windvane_shards_owned", "Shards that this replica works on.", held)
