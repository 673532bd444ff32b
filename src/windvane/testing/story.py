"""What operators did in a test, told in lines: what pytest shows beside a test that failed."""

from collections.abc import Iterable

from windvane.runtime.history import Pass
from windvane.sim.time import BEGINNING
from windvane.testing.replica import Replica

LINES = 60


def story_of(replicas: Iterable[Replica]) -> str:
    """The last passes of all objects, oldest first: when, which object, why, and what came of it."""
    passes = [
        (each.began, f"{replica.operator.name}: {controller.declaration.kind.name}", each)
        for replica in replicas
        for controller in replica.controllers
        for last in controller.history.all()
        for each in controller.history.of((last.namespace, last.name))
    ]
    passes.sort(key=lambda entry: entry[0])
    left_out = [f"({len(passes) - LINES} earlier passes are left out)"] if len(passes) > LINES else []
    return "\n".join([*left_out, *(_line(who, each) for _, who, each in passes[-LINES:])])


def _line(who: str, done: Pass) -> str:
    at = (done.began - BEGINNING).total_seconds()
    came = f"{done.result}: {done.message}" if done.message else done.result
    wrote = f"; wrote {', '.join(map(str, done.writes))}" if done.writes else ""
    return f"{at:9.1f} s  {who} {done.where}  because {', '.join(map(str, done.triggers))}  → {came}{wrote}"
