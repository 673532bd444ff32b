"""The admission plugins as one: all are asked about a request, in their order.

First they may change the object; then, when it is what its kind makes of it and valid, they may only refuse it. Each
says no by raising a `Failure`.

What one of them has changed is news to those that were asked before. So they are asked a second time, all of them, and
there is no third: an object that they can't agree about would never be stored.
"""

from collections.abc import Iterable

from windvane.cluster.apiserver.admission.order import in_order
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest


class Chain:
    """All of them."""

    def __init__(self, plugins: Iterable[AdmissionPlugin] = ()) -> None:
        self._plugins = in_order(plugins)
        self._by_resource: dict[str, tuple[AdmissionPlugin, ...]] = {}  # a write should not wait for plugins of others

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether any plugin has something to do."""
        return any(each.handles(request) for each in self._plugins_for(request))

    async def mutate(self, request: AdmissionRequest) -> None:
        """Have the object changed."""
        await self._round(request)
        if request.changed:
            request.again = True
            await self._round(request)

    async def validate(self, request: AdmissionRequest) -> None:
        """Have the object looked at."""
        for each in self._plugins_for(request):
            if each.handles(request):
                await each.validate(request)

    async def _round(self, request: AdmissionRequest) -> None:
        for each in self._plugins_for(request):
            if each.handles(request):
                await each.mutate(request)

    def _plugins_for(self, request: AdmissionRequest) -> tuple[AdmissionPlugin, ...]:
        resource = request.type.kind.resource
        if (found := self._by_resource.get(resource)) is None:
            found = tuple(each for each in self._plugins if not each.resources or resource in each.resources)
            self._by_resource[resource] = found
        return found
