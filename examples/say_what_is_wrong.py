"""Errors: what can't work until the user changes something, what may work later, and how both are shown.

SPARE_PARTS=/tmp/spare-parts windvane run examples/say_what_is_wrong.py --install-crds

`kubectl get` shows the condition, `kubectl describe` the Events. An exception is tried again, later and later; `Fatal`
is not, until the spec changes.
"""

import os
from pathlib import Path

from windvane import Column, Context, Fatal, Operator, Resource, Spec, Status

KNOWN = {"1.0": "old", "2.0": "new"}


class EngineSpec(Spec):
    version: str
    """Which one to run."""


class EngineStatus(Status):
    codename: str = ""
    """What engineers call it."""


class Engine(
    Resource[EngineSpec, EngineStatus],
    group="examples.windvane.dev",
    version="v1",
    columns=[
        Column("Version", ".spec.version"),
        Column("Ready", '.status.conditions[?(@.type=="Ready")].status', type="string"),
        Column("Why", '.status.conditions[?(@.type=="Ready")].message', type="string"),
    ],
):
    """Something that runs in a version."""


operator = Operator("engines")


@operator.controller(Engine)
async def reconcile(engine: Engine, ctx: Context) -> None:
    if engine.spec.version not in KNOWN:
        raise Fatal(f"there is no version {engine.spec.version}; there are {', '.join(KNOWN)}")
    look_for_parts()  # what it raises is tried again after 0.2 s, then 0.4, and so on to five minutes
    if engine.status.codename != KNOWN[engine.spec.version]:
        ctx.event("Upgraded", f"{engine.status.codename or 'nothing'} → {KNOWN[engine.spec.version]}")
    engine.status.codename = KNOWN[engine.spec.version]
    ctx.condition("Polished", holds=False, message="nobody has time", reason="Busy")


def look_for_parts() -> None:
    """A thing outside of the cluster, which comes and goes."""
    parts = Path(os.environ.get("SPARE_PARTS", "/tmp/spare-parts"))
    if not parts.exists():
        raise RuntimeError(f"no spare parts: {parts} is not there")
