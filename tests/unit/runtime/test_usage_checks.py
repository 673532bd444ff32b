"""What an author gets wrong in a declaration is said there and then, with what to write instead."""

import re
from collections.abc import AsyncIterator
from operator import attrgetter
from typing import Any

import pytest

from windvane import Context, Object, Operator, Owned, Resource, Spec, Status, Watch
from windvane.k8s.core import ConfigMap, Secret


class Website(Resource[Spec, Status], group="demo.windvane.dev", version="v1"):
    """A website."""


REMEDY = "write `async def reconcile(obj: Website, ctx: Context)`"


async def reconcile(site: Website, ctx: Context) -> None: ...


def declare(function: Any) -> None:
    Operator("websites").controller(Website)(function)


def test_a_reconcile_must_be_async() -> None:
    def reconcile(site: Website, ctx: Context) -> None: ...

    with pytest.raises(TypeError, match=re.escape(f"the controller of Website must be an async function: {REMEDY}")):
        declare(reconcile)


def test_a_reconcile_must_not_yield() -> None:
    async def reconcile(site: Website, ctx: Context) -> AsyncIterator[None]:
        yield

    with pytest.raises(TypeError, match=re.escape(f"the controller of Website must not `yield`: {REMEDY}, and")):
        declare(reconcile)


async def _one(site: Website) -> None: ...


async def _three(site: Website, ctx: Context, more: str) -> None: ...


async def _keywords(*, site: Website, ctx: Context) -> None: ...


@pytest.mark.parametrize(
    ("function", "there"),
    [(_one, "_one(site)"), (_three, "_three(site, ctx, more)"), (_keywords, "_keywords(*, site, ctx)")],
)
def test_a_reconcile_must_take_an_object_and_a_context(function: Any, there: str) -> None:
    with pytest.raises(
        TypeError, match=re.escape(f"with the object and a context, which {there} can't be: write `async")
    ):
        declare(function)


def test_a_reconcile_may_take_more_that_has_defaults() -> None:
    async def reconcile(site: Website, ctx: Context, log: bool = False) -> None: ...

    declare(reconcile)


def test_a_finalizer_is_checked_as_well() -> None:
    with pytest.raises(TypeError, match="the finalizer of Website is called with the object and a context"):
        Operator("websites").finalizer(Website)(_one)  # type: ignore[arg-type]


@pytest.mark.parametrize("decorator", ["controller", "finalizer"])
def test_a_decorator_needs_the_kind(decorator: str) -> None:
    async def reconcile(site: Website, ctx: Context) -> None: ...

    bare: Any = getattr(Operator("websites"), decorator)
    with pytest.raises(TypeError, match=re.escape(f"write @operator.{decorator}(Website), say")):
        bare(reconcile)


@pytest.mark.parametrize("owns", [ConfigMap, ["ConfigMap"], [ConfigMap()]])
def test_what_is_owned_is_a_list_of_kinds(owns: Any) -> None:
    with pytest.raises(TypeError, match=re.escape("write owns=[apps.Deployment], say")):
        Operator("websites").controller(Website, owns=owns)


def _to(secret: Object) -> str:
    return secret.metadata.name


@pytest.mark.parametrize("watches", [Secret, [Secret], Watch(Secret, to=_to)])
def test_what_is_watched_is_a_list_of_watches(watches: Any) -> None:
    with pytest.raises(TypeError, match=re.escape("write watches=[Watch(core.Secret, to=...)], where")):
        Operator("websites").controller(Website, watches=watches)


@pytest.mark.parametrize("reads", [Secret, ["Secret"], Watch(Secret, to=_to), [Watch(Secret, to=_to)]])
def test_what_is_read_is_a_list_of_kinds(reads: Any) -> None:
    with pytest.raises(TypeError, match=re.escape("write reads=[core.Node], say")):
        Operator("websites").controller(Website, reads=reads)


def test_a_mapping_function_must_not_be_async() -> None:
    async def to(secret: Secret) -> str:
        return secret.metadata.name

    function: Any = to
    with pytest.raises(TypeError, match=r"Watch\(Secret, to=...\) takes a function that does not wait: write `def`"):
        Watch(Secret, to=function)


@pytest.mark.parametrize("seeing", ["status", lambda: 1])
def test_what_is_seen_is_said_by_a_function_of_the_object(seeing: Any) -> None:
    with pytest.raises(TypeError, match=r"Owned\(ConfigMap, seeing="):
        Owned(ConfigMap, seeing=seeing)


def test_a_getter_of_the_standard_library_is_such_a_function() -> None:
    operator = Operator("websites")
    owned = Owned(ConfigMap, when=attrgetter("data"), seeing=attrgetter("data"))
    watch = Watch(Secret, to=attrgetter("metadata.name"), when=attrgetter("data"))
    operator.controller(Website, when=attrgetter("metadata.labels"), owns=[owned], watches=[watch])(reconcile)
    assert list(operator.declarations)


@pytest.mark.parametrize("limits", [{"concurrency": 0}, {"concurrency": "8"}, {"timeout": 0}, {"timeout": "60"}])
def test_limits_with_which_nothing_would_be_done_are_refused(limits: Any) -> None:
    (name,) = limits
    with pytest.raises(ValueError, match=f"{name}=.*: write how many"):
        Operator("websites").controller(Website, **limits)
