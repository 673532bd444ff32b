"""What a controller did lately: of each object its last passes, what brought them on, and how they ended."""

from collections import OrderedDict, deque
from datetime import datetime

import msgspec

from windvane.runtime.cache import Key

PASSES = 10
"""How many passes of one object are kept."""
OBJECTS = 2000
"""Of how many objects; those that nothing was done about for longest go first."""


class Pass(msgspec.Struct, rename="camel", kw_only=True):
    """One pass over one object."""

    id: str
    controller: str = ""
    """Its name, as in metrics: by default the resource that it is for."""
    kind: str = ""
    """The kind of the object."""
    namespace: str
    name: str
    began: datetime
    triggers: list[str]
    """What brought it on."""
    reads: list[str] = []
    writes: list[str] = []
    seconds: float = 0.0
    result: str = ""
    """`done`, `waiting`, `fatal`, `gone`, `unmatched`, or `failed`."""
    message: str = ""
    """Why it waits or failed."""
    slowed: float = 0.0
    """For how many seconds the next pass is put off, because children are written again and again."""
    again: float | None = None
    """In how many seconds the next pass comes by itself: asked for, or a retry."""

    @property
    def where(self) -> str:
        """Its object: `default/blog`."""
        return "/".join(filter(None, (self.namespace, self.name)))


class History:
    """The last passes of one controller."""

    def __init__(self) -> None:
        self._passes: OrderedDict[Key, deque[Pass]] = OrderedDict()

    def add(self, key: Key, done: Pass) -> None:
        """Remember a pass."""
        self._passes.setdefault(key, deque(maxlen=PASSES)).append(done)
        self._passes.move_to_end(key)
        if len(self._passes) > OBJECTS:
            self._passes.popitem(last=False)

    def of(self, key: Key) -> list[Pass]:
        """The last passes of one object, oldest first."""
        return list(self._passes.get(key, ()))

    def all(self) -> list[Pass]:
        """The last pass of each object, the latest first."""
        return [passes[-1] for passes in reversed(self._passes.values())]
