"""The base class of admission plugins: they may change an object, or refuse it by raising a `Failure`.

Each plugin is in a file of its own, under kube-apiserver's name for it. `order` lists them in the order in which they
are called; `plugins` makes them.
"""

from typing import ClassVar

from windvane.cluster.apiserver.admission.request import AdmissionRequest, Operation


class AdmissionPlugin:
    """A plugin that mutates or validates requests, or both."""

    name: ClassVar[str]
    """kube-apiserver's name for it."""
    resources: ClassVar[frozenset[str]] = frozenset()
    """The resources that it handles, such as `deployments.apps`; empty for all."""
    operations: ClassVar[frozenset[Operation]] = frozenset({"CREATE", "UPDATE"})
    """The operations that it handles, unless it overrides `handles`."""

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether it has something to do; must be cheap. By default it ignores subresources."""
        return request.operation in self.operations and not request.subresource

    async def mutate(self, request: AdmissionRequest) -> None:
        """Change `request.object`, or replace it.

        If it sets `request.changed`, all plugins are called a second time, with `request.again`.
        """

    async def validate(self, request: AdmissionRequest) -> None:
        """Look at the object as it will be stored."""
