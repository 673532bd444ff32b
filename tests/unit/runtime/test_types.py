"""What a type checker says about an operator: nothing about what is right, and an error in each line that is wrong."""

import re
from pathlib import Path

import pytest
from mypy import api

ROOT = Path(__file__).parents[3]

PREAMBLE = """
from collections.abc import AsyncIterator
from windvane import (
    AdmissionRequest, After, Backoff, Client, Context, DaemonContext, Object, Operator, Owned, Resource, Spec, Status,
    Watch,
)
from windvane.k8s import apps, core

class WebsiteSpec(Spec):
    page: str = ""

class Website(Resource[WebsiteSpec, Status], group="demo.windvane.dev", version="v1"): ...
class OldWebsite(Resource[Spec, Status], group="demo.windvane.dev", version="v1beta1", kind="Website"): ...

operator = Operator("websites")

@operator.lifespan
async def number(client: Client) -> AsyncIterator[int]:
    yield 1

@operator.daemon(Website)
async def probe(site: Website, ctx: DaemonContext) -> AsyncIterator[bool]:
    yield ctx.value(number) > 0
"""

CONTROLLER, FINALIZER, DAEMON, DEFAULT, VALIDATE = (
    f"@operator.{name}(Website)\n" for name in ("controller", "finalizer", "daemon", "default", "validate")
)
CONVERT = "@operator.convert(OldWebsite, Website)\n"

GOOD = {
    "a pass": CONTROLLER + "async def f(site: Website, ctx: Context) -> None: ...",
    "a pass that comes back": CONTROLLER + "async def f(site: Website, ctx: Context) -> After: ...",
    "either": CONTROLLER + "async def f(site: Website, ctx: Context) -> After | None: ...",
    "a pass over any kind": CONTROLLER + "async def f(thing: Object, ctx: Context) -> None: ...",
    "a pass that a test calls": (
        CONTROLLER + "async def f(site: Website, ctx: Context) -> After: ...\n"
        "async def test(ctx: Context) -> float:\n    return (await f(Website(), ctx)).seconds"
    ),
    "all options": (
        "@operator.controller(\n"
        "    Website, when=lambda site: site.spec.page, retry=Backoff(first=1),\n"
        "    owns=[core.Service, Owned(apps.Deployment, seeing=lambda it: it.status.ready_replicas)],\n"
        "    watches=[Watch(core.Secret, to=lambda it: it.metadata.name, when=lambda it: it.data)],\n"
        ")\nasync def f(site: Website, ctx: Context) -> None: ..."
    ),
    "a finalizer": FINALIZER + "async def f(site: Website, ctx: Context) -> None: ...",
    "what a lifespan yields": "def f(ctx: Context) -> int:\n    return ctx.value(number)",
    "what a daemon yields": "def f(ctx: Context) -> bool | None:\n    return ctx.value(probe)",
    "a daemon without yield": DAEMON + "async def f(site: Website, ctx: DaemonContext) -> None: ...",
    "defaults": DEFAULT + "def f(site: Website) -> None: ...",
    "defaults that wait": DEFAULT + "async def f(site: Website) -> None: ...",
    "a judge": (
        VALIDATE + "def f(site: Website, request: AdmissionRequest[Website]) -> None:\n"
        "    print(request.old and request.old.spec.page)"
    ),
    "a conversion": CONVERT + "def f(old: OldWebsite) -> Website: ...",
}

BAD = {
    "a pass over another kind": CONTROLLER + "async def f(site: core.Pod, ctx: Context) -> None: ...",
    "a pass that does not wait": CONTROLLER + "def f(site: Website, ctx: Context) -> None: ...",
    "a pass that returns a number": CONTROLLER + "async def f(site: Website, ctx: Context) -> int: ...",
    "a pass without a context": CONTROLLER + "async def f(site: Website) -> None: ...",
    "a pass that yields": CONTROLLER + "async def f(site: Website, ctx: Context) -> AsyncIterator[int]:\n    yield 1",
    "no kind": "@operator.controller\nasync def f(site: Website, ctx: Context) -> None: ...",
    "a finalizer of another kind": FINALIZER + "async def f(site: core.Pod, ctx: Context) -> None: ...",
    "a finalizer that does not wait": FINALIZER + "def f(site: Website, ctx: Context) -> None: ...",
    "a when of no field": "operator.controller(Website, when=lambda site: site.spec.pgae)",
    "a seeing of no field": "Owned(apps.Deployment, seeing=lambda it: it.status.raedy)",
    "a retry of seconds": "operator.controller(Website, retry=5)",
    "a lifespan that returns": "@operator.lifespan\nasync def f(client: Client) -> int: ...",
    "a lifespan without a client": "@operator.lifespan\nasync def f() -> AsyncIterator[int]:\n    yield 1",
    "a lifespan as another type": "def f(ctx: Context) -> str:\n    return ctx.value(number)",
    "a daemon that may have yielded nothing": "def f(ctx: Context) -> bool:\n    return ctx.value(probe)",
    "a daemon of another kind": DAEMON + "async def f(site: core.Pod, ctx: DaemonContext) -> None: ...",
    "a daemon with the context of a pass": DAEMON + "async def f(site: Website, ctx: Context) -> None: ...",
    "a daemon that does not wait": DAEMON + "def f(site: Website, ctx: DaemonContext) -> None: ...",
    "defaults of another kind": DEFAULT + "def f(site: core.Pod) -> None: ...",
    "defaults that return": DEFAULT + "def f(site: Website) -> Website: ...",
    "a judge that returns": VALIDATE + "def f(site: Website) -> bool: ...",
    "a judge of another kind's requests": (
        VALIDATE + "def f(site: Website, request: AdmissionRequest[core.Pod]) -> None: ..."
    ),
    "a conversion of another kind": CONVERT + "def f(old: core.Pod) -> Website: ...",
    "a conversion to another kind": CONVERT + "def f(old: OldWebsite) -> OldWebsite: ...",
    "a conversion that waits": CONVERT + "async def f(old: OldWebsite) -> Website: ...",
}


@pytest.mark.long
def test_a_type_checker_accepts_what_is_right_and_nothing_that_is_wrong(tmp_path: Path) -> None:
    """One run for all: it takes as long as reading windvane takes, which is many times longer than the rest."""
    names = {f"t{number}": name for number, name in enumerate((*GOOD, *BAD))}
    for file, name in names.items():
        (tmp_path / f"{file}.py").write_text(f"{PREAMBLE}\n{ {**GOOD, **BAD}[name] }\n")
    config = tmp_path / "mypy.ini"
    config.write_text(f"[mypy]\nstrict = true\nmypy_path = {ROOT / 'src'}\ndisable_error_code = empty-body\n")
    cache = ROOT / ".mypy_cache" / "operators"  # not that of `make lint`, which has other settings
    output, problems, _ = api.run(["--config-file", str(config), "--cache-dir", str(cache), str(tmp_path)])
    assert problems == ""
    wrong = {names[file] for file in re.findall(r"(t\d+)\.py:\d+: error", output)}
    assert wrong == set(BAD), output
