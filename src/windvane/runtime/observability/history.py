"""What a controller did lately: of each object its last passes, what brought them on, and how they ended."""

from collections import OrderedDict, deque
from datetime import datetime

import msgspec

from windvane.runtime.informers.cache import Key

PASSES = 10
"""How many passes of one object are kept."""
OBJECTS = 2000
"""Of how many objects; those that nothing was done about for longest go first."""

MOST = 100
"""So many reads and writes of a pass are kept, the first."""
LONGEST = 2000
"""So many characters of why it waits or failed."""


class Trigger(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """What brought a pass on: a change of an object, or a timer, a retry, a daemon."""

    words: str
    """In a few words: `Deployment web changed`, `a timer`."""
    resource: str = ""
    """Of the object that changed: `deployments.apps`; empty if none did."""
    namespace: str = ""
    name: str = ""
    version: str = ""
    """The resourceVersion that the change gave it: that of the write which made it, unless several were seen as one."""
    manager: str = ""
    """The field manager that made the change, as far as managedFields tell."""
    fields: list[str] = []
    """What changed in it, the first few: `spec.replicas 3 → 5`. Of what may be secret only the path is told."""
    earlier: list[str] = []
    """The versions of changes before, the last few, that the same pass is the first to see."""
    initial: bool = False
    """Whether it was there when the operator began to look."""

    def __str__(self) -> str:
        return self.words


class Write(msgspec.Struct, rename="camel", frozen=True, omit_defaults=True):
    """Something that a pass wrote."""

    words: str
    """In a few words: `apply deployments.apps web`."""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    version: str = ""
    """The resourceVersion after it. What it brings on has it as well, so one pass is known to cause another."""
    fields: list[str] = []
    """What changed in it, as in a trigger."""

    def __str__(self) -> str:
        return self.words


class Deletion(msgspec.Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=True):
    """Something that a client deleted, as the API server saw it."""

    resource: str
    namespace: str = ""
    name: str = ""
    """Empty: all that there were."""
    version: str = ""
    client: str = ""
    """The program, as it calls itself."""
    user: str = ""
    """The user that it was authenticated as."""


class Pass(msgspec.Struct, rename="camel", kw_only=True):
    """One pass over one object."""

    id: str
    controller: str = ""
    """Its name, as in metrics: by default the resource that it is for."""
    kind: str = ""
    """The kind of the object."""
    resource: str = ""
    """Its resource: `deployments.apps`."""
    namespace: str
    name: str
    began: datetime
    triggers: list[Trigger]
    """What brought it on."""
    reads: list[str] = []
    writes: list[Write] = []
    seconds: float = 0.0
    result: str = ""
    """`done`, `waiting`, `fatal`, `gone`, `unmatched`, `failed`; or `cancelled`, if the operator ended in its midst."""
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


def shorten(done: Pass) -> None:
    """Leave out of a pass what is too much to be kept: some write thousands of objects, or fail with a page of text."""
    if len(done.writes) > MOST:
        done.writes = [*done.writes[:MOST], Write(f"and {len(done.writes) - MOST} more")]
    if len(done.reads) > MOST:
        done.reads = [*done.reads[:MOST], f"and {len(done.reads) - MOST} more"]
    if len(done.message) > LONGEST:
        done.message = f"{done.message[:LONGEST]}..."


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
