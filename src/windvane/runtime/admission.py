"""What an author declares about objects that are about to be stored: functions that fill in, and functions that judge.

    @operator.default(Website)
    def fill_in(site: Website) -> None:
        site.spec.budget = site.spec.budget or "shared"

    @operator.validate(Website)
    async def check(site: Website, request: AdmissionRequest[Website]) -> None:
        if request.old and request.old.spec.region != site.spec.region:
            raise Denied("it can't be changed", field="spec.region")

They are called by the API server, through the webhook server of `windvane.webhook`.
"""

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, Literal, TypeAlias, TypeVar, get_args

from windvane.api.kind import Kind
from windvane.api.resource import Object, Resource, kind_of
from windvane.k8s.authentication import UserInfo
from windvane.runtime.usage_checks import check_annotations, check_no_result

ObjectT = TypeVar("ObjectT", bound=Object)
Operation: TypeAlias = Literal["create", "update", "delete"]
FailurePolicy: TypeAlias = Literal["Fail", "Ignore"]
Admit: TypeAlias = Callable[..., Awaitable[None] | None]
"""A function of an object, or of an object and an `AdmissionRequest`."""

LONGEST_TIMEOUT = 30.0
"""Seconds: no API server waits longer for a webhook."""

NEVER_ASKED_ABOUT = "admissionregistration.k8s.io"

OF_THEIR_OWN_KIND = ("approval", "ephemeralcontainers", "finalize", "resize", "status")
"""The subresources that are written in the form of the object itself. A `scale` is not, nor is an `eviction`."""


class Denied(Exception):
    """Raised by a function that judges: the object is not stored, and the client is told why.

        raise Denied("it can't be changed", field="spec.region")

    With a `field`, `kubectl` shows it as it shows any field that is not valid; without one, as something that is
    forbidden. A field is written as in manifests: `spec.containers[0].image`.
    """

    def __init__(self, message: str, *, field: str = "") -> None:
        if not isinstance(field, str):
            raise TypeError(f'Denied(..., field={field!r}): write a field as in manifests: "spec.containers[0].image"')
        # It may be an exception, as in `raise Denied(error)`, and quote what no answer can be written with.
        self.message = str(message).encode(errors="backslashreplace").decode()
        super().__init__(self.message)
        self.field = field


class AdmissionRequest(Generic[ObjectT]):
    """What is about to be done to an object, and by which user."""

    def __init__(
        self,
        operation: Operation,
        *,
        old: ObjectT | Callable[[], ObjectT] | None = None,
        user: UserInfo | None = None,
        dry_run: bool = False,
        namespace: str = "",
        name: str = "",
        subresource: str = "",
    ) -> None:
        """To call a function in a test: `check(site, AdmissionRequest("update", old=site_before))`."""
        self.operation = operation
        """`create`, `update` or `delete`."""
        self.user = user or UserInfo()
        """The user that asks: `request.user.username`, `.groups`, `.uid`, `.extra`."""
        self.dry_run = dry_run
        """Whether nothing will be stored: then nothing may be done elsewhere, either."""
        self.namespace = namespace
        """Empty for kinds that are in no namespace."""
        self.name = name
        """Empty for a new object whose name the API server makes up later, from `metadata.generate_name`."""
        self.subresource = subresource
        """Empty unless it was declared with `subresources=`."""
        self.warnings: list[str] = []
        """What will be told."""
        self._old = old

    @property
    def old(self) -> ObjectT | None:
        """The object as it is stored; None if it is a new one."""
        # Read when it is asked for: an old object that this class can't read must not be in the way of a better one.
        if callable(self._old):
            self._old = self._old()
        return self._old

    def warn(self, message: str) -> None:
        """Have `kubectl` show a warning to the user, whether the object is stored or not."""
        # In one line: the API server drops a warning that has several without a word.
        self.warnings.append(" ".join(str(message).split()))


@dataclass(frozen=True, kw_only=True)
class AdmissionHook:
    """One function that is called before objects of a kind are stored, as declared."""

    what: type[Object]
    function: Admit
    operations: tuple[Operation, ...]
    failure_policy: FailurePolicy
    """What becomes of a request when the operator can't be asked, or when the function takes too long."""
    timeout: float
    """Seconds that the function may take."""
    subresources: tuple[str, ...] = ()
    """Beside the object itself: those whose writes are passed to the function, too."""

    @property
    def kind(self) -> Kind:
        """What it is for."""
        return kind_of(self.what)

    @cached_property
    def takes_request(self) -> bool:
        """Whether the function wants to know more than the object."""
        return _can_be_called_with(self.function, 2)


@dataclass(frozen=True)
class HookOptions:
    """What may be said beside the kind, not yet checked."""

    on: Sequence[Operation]
    failure_policy: FailurePolicy | None
    timeout: float
    subresources: Sequence[str]


def admission_hook(decorator: str, what: type[Object], options: HookOptions, function: Admit) -> AdmissionHook:
    """What `@operator.default` or `@operator.validate` declares; TypeError or ValueError says what is wrong with it."""
    _check_kind(what, decorator)
    _check_function(function, what, decorator)
    _check_options(options, what, decorator)
    return AdmissionHook(
        what=what,
        function=function,
        operations=tuple(dict.fromkeys(options.on)),
        # A guard of a kind that is not the operator's must not stop the whole cluster when it is down.
        failure_policy=options.failure_policy or ("Fail" if issubclass(what, Resource) else "Ignore"),
        timeout=options.timeout,
        subresources=tuple(dict.fromkeys(options.subresources)),
    )


def _check_kind(what: type[Object], decorator: str) -> None:
    if kind_of(what).group == NEVER_ASKED_ABOUT:
        raise ValueError(
            f"@operator.{decorator}({what.__name__}): API servers ask no webhook about kinds of {NEVER_ASKED_ABOUT}: a "
            "wrong one could never be put right"
        )


def _check_options(options: HookOptions, what: type[Object], decorator: str) -> None:
    on: Any = options.on
    timeout: Any = options.timeout
    where = f"@operator.{decorator}({what.__name__}"
    possible = get_args(Operation) if decorator == "validate" else ("create", "update")
    if isinstance(on, str) or not on or any(each not in possible for each in on):
        words = ", ".join(f'"{each}"' for each in possible)
        raise ValueError(f"{where}, on={on!r}): write on=[...], with some of {words}")
    if options.failure_policy not in (None, *get_args(FailurePolicy)):
        raise ValueError(
            f"{where}, failure_policy={options.failure_policy!r}): "
            'write "Fail", or "Ignore" to have objects stored unseen while the operator is down'
        )
    if isinstance(timeout, str) or not 1 <= timeout <= LONGEST_TIMEOUT:
        raise ValueError(
            f"{where}, timeout={timeout!r}): an API server waits from 1 to {LONGEST_TIMEOUT:g} seconds; whoever runs "
            "kubectl waits, too, so choose few"
        )
    if isinstance(options.subresources, str):
        raise TypeError(f"{where}, subresources=...) takes a list: write subresources=[{options.subresources!r}]")
    for subresource in options.subresources:
        if subresource not in OF_THEIR_OWN_KIND:
            raise ValueError(
                f"{where}, subresources=...): what is written to {subresource!r} is no {what.__name__}; possible are "
                f"{', '.join(OF_THEIR_OWN_KIND)}"
            )


def _check_function(function: Admit, what: type[Object], decorator: str) -> None:
    name = getattr(function, "__name__", repr(function))
    remedy = f"write `def {name}(obj: {what.__name__}, request: AdmissionRequest[{what.__name__}]) -> None`"
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"the function of @operator.{decorator}({what.__name__}) must not `yield`: {remedy}")
    if not _can_be_called_with(function, 1) and not _can_be_called_with(function, 2):
        raise TypeError(
            f"the function of @operator.{decorator}({what.__name__}) is called with the object and, if it takes a "
            f"second argument, the request, which {name}{_bare(function)} can't be: {remedy}"
        )
    check_annotations(function, (what, AdmissionRequest), remedy)
    check_no_result(function, f"{remedy}, and change the object or raise Denied")


def _can_be_called_with(function: Callable[..., Any], arguments: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * arguments)
    except TypeError:
        return False
    return True


def _bare(function: Callable[..., Any]) -> inspect.Signature:
    parameters = inspect.signature(function).parameters.values()
    return inspect.Signature([each.replace(annotation=inspect.Parameter.empty) for each in parameters])
