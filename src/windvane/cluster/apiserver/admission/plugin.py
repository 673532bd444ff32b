"""What an admission plugin is: it is asked about writes, and may change an object, or refuse it by raising a `Failure`.

One file of this package is one plugin, under the name that kube-apiserver has for it. `order` says which there are, and
in which order they are asked; `plugins` makes them.
"""

from typing import ClassVar

from windvane.cluster.apiserver.admission.request import AdmissionRequest, Operation


class AdmissionPlugin:
    """Says which requests it is for, and does one of two things about them, or both."""

    name: ClassVar[str]
    """kube-apiserver's name for it."""
    resources: ClassVar[frozenset[str]] = frozenset()
    """The only resources that it is for, such as `deployments.apps`; empty if it may be for any."""
    operations: ClassVar[frozenset[Operation]] = frozenset({"CREATE", "UPDATE"})
    """The only operations, unless `handles` says otherwise."""

    def handles(self, request: AdmissionRequest) -> bool:
        """Whether there is something to do: cheap, because mostly there isn't. By default subresources are let be."""
        return request.operation in self.operations and not request.subresource

    async def mutate(self, request: AdmissionRequest) -> None:
        """Change `request.object`, or put another in its place.

        If `request.changed` is set, all plugins are asked once more, with `request.again`.
        """

    async def validate(self, request: AdmissionRequest) -> None:
        """Look at the object as it will be stored."""
