"""The names of the requests of a claim, and references to them: `gpu`, or `gpu/large` for one of its alternatives."""

from collections.abc import Iterable

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.resource.device_names import label_name
from windvane.cluster.apiserver.registry.resource.lists import check_set
from windvane.cluster.apiserver.registry.validation.problems import Problems

MOST_REQUESTS = 32
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


class RequestNames:
    """What can be referred to within one claim."""

    def __init__(self, requests: Iterable[Wire]) -> None:
        self._names: set[str] = set()
        for request in requests:
            name = request.get("name") or ""
            self._names.add(name)
            self._names |= {f"{name}/{each.get('name') or ''}" for each in request.get("firstAvailable") or ()}

    def check(self, name: str, path: str, problems: Problems) -> None:
        """Check that a request has that name."""
        parts = name.split("/")
        if len(parts) > 2:
            problems.invalid(path, name, _NO_REQUEST)
            return
        for part in parts:
            label_name(part, path, problems)
        if name not in self._names:
            problems.invalid(path, name, _NO_REQUEST)

    def check_all(self, names: list[str], path: str, problems: Problems) -> None:
        """Check a list of references."""
        check_set(names, MOST_REQUESTS, self.check, str, path, problems)
