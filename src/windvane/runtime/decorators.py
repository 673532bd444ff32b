"""What the decorators of an operator take, as a type checker sees it: a function of that kind, and no other.

Each gives the function back as it is. They are protocols, and not plain callables, because the type that a function has
beside its object (what it returns, whether it takes a request) is known only when it is decorated.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar, overload

from windvane.api.resource import Object
from windvane.runtime.admission import AdmissionRequest
from windvane.runtime.context import Context
from windvane.runtime.outcome import After

ObjectT = TypeVar("ObjectT", bound=Object)
EndT = TypeVar("EndT", bound=After | None)
AdmitT = TypeVar("AdmitT", bound=Awaitable[None] | None)


class DeclaresPass(Protocol[ObjectT]):
    """What `@operator.controller(Website)` and `@operator.finalizer(Website)` are."""

    def __call__(
        self, function: Callable[[ObjectT, Context], Coroutine[Any, Any, EndT]], /
    ) -> Callable[[ObjectT, Context], Coroutine[Any, Any, EndT]]: ...


class DeclaresAdmission(Protocol[ObjectT]):
    """What `@operator.default(Website)` and `@operator.validate(Website)` are."""

    @overload
    def __call__(self, function: Callable[[ObjectT], AdmitT], /) -> Callable[[ObjectT], AdmitT]: ...

    @overload
    def __call__(
        self, function: Callable[[ObjectT, AdmissionRequest[ObjectT]], AdmitT], /
    ) -> Callable[[ObjectT, AdmissionRequest[ObjectT]], AdmitT]: ...
