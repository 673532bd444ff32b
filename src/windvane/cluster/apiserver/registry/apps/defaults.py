"""What is filled into the update strategies of workloads."""

from typing import Any

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.defaults import fill


def rolling_update(strategy: Wire, **defaults: Any) -> None:
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.setdefault("rollingUpdate", {})
        for field, value in defaults.items():
            fill(rolling, field, value)
