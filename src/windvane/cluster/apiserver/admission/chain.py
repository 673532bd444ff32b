"""The chain of admission plugins, in their order.

First they may change the object; then, after defaulting and validation, only refuse it, by raising a `Failure`.

If a plugin changed the object, all are called a second time, so that those before it see the change. There is no third
round: plugins that undo each other's changes would never end.
"""

from collections.abc import Iterable

from windvane.cluster.apiserver.admission.order import in_order
from windvane.cluster.apiserver.admission.plugin import AdmissionPlugin
from windvane.cluster.apiserver.admission.request import AdmissionRequest


class Chain:
    """Calls the plugins that handle a request."""

    def __init__(self, plugins: Iterable[AdmissionPlugin] = ()) -> None:
        self._plugins = in_order(plugins)
        self._by_resource: dict[str, tuple[AdmissionPlugin, ...]] = {}  # skips plugins for other resources

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether any plugin handles the request."""
        return any(each.handles(request) for each in self._plugins_for(request))

    async def mutate(self, request: AdmissionRequest) -> None:
        """Call the mutating plugins."""
        await self._round(request)
        if request.changed:
            request.again = True
            await self._round(request)

    async def validate(self, request: AdmissionRequest) -> None:
        """Call the validating plugins."""
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
