"""Controllers that go on from the status that they wrote: what counts, say, is only what has been written down."""

from typing import Any

from windvane import After, to_wire


class StatusSteps:
    """The status of an object as it was when a pass began."""

    def __init__(self, status: Any) -> None:
        self._before = to_wire(status)

    def after(self, status: Any, otherwise: After | None = None) -> After | None:
        """Another pass at once if the status is another now: a pass is not woken by what it writes itself."""
        return After(seconds=0) if to_wire(status) != self._before else otherwise
