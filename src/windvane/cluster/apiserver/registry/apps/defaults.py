"""What is filled into the update strategies of workloads."""

from typing import Any

from windvane.cluster.apiserver.registry.defaults import fill

Json = dict[str, Any]


def rolling_update(strategy: Json, **defaults: Any) -> None:
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        for field, value in defaults.items():
            fill(rolling, field, value)
