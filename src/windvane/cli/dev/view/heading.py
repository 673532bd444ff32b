"""The first lines of the view: the operator and how it is, its objects in numbers, and what is wrong."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.text import Text

from windvane.cli.dev.session import State
from windvane.cli.dev.view.problem import read_problem
from windvane.cli.dev.view.wording import MARKS, Tone, at_home, text

STATES = {
    State.STARTING: ("◌ starting", Tone.WAITING),
    State.RUNNING: ("● running", Tone.GOOD),
    State.PAUSED: ("‖ paused", Tone.WAITING),
    State.BROKEN: ("✗ broken", Tone.BAD),
    State.CRASHED: ("✗ crashed", Tone.BAD),
    State.STOPPED: ("■ stopped", Tone.QUIET),
}
COUNTED = {Tone.GOOD: "ready", Tone.WAITING: "waiting", Tone.BAD: "failed"}


def heading(width: int, name: str, state: State, tones: Sequence[Tone], kubeconfig: Path) -> Text:
    """The operator, its objects, and where the kubeconfig is: in one line if that fits, or else in two."""
    left = text((name or "no operator yet", Tone.STRONG), "  ", STATES[state], "   ")
    left += text((f"{len(tones)} object{'s' if len(tones) != 1 else ''}", Tone.QUIET))
    for tone, word in COUNTED.items():
        if count := sum(1 for each in tones if each == tone):
            left += text("  ", (f"{MARKS[tone]} {count} {word}", tone))
    right = text(("KUBECONFIG=", Tone.QUIET), (at_home(kubeconfig), Tone.ACCENT))
    gap = width - left.cell_len - right.cell_len
    return left + text(" " * gap if gap >= 2 else "\n") + right if gap >= 2 else Text("\n").join([left, right])


def banner(state: State, problem: str, lost: str, unwatched: Iterable[str], *, alive: bool) -> Text | None:
    """What is wrong now with the cluster, or the operator (of which a version was `loaded`); None if nothing is."""
    lines: list[Text] = []
    if lost:
        lines.append(text((f"✗ The API server can't be reached: {lost}. It is tried again every second.", Tone.BAD)))
    else:
        lines.extend(text((f"✗ {each}", Tone.BAD)) for each in unwatched)
    if problem:
        found = read_problem(problem)
        where = f"{found.place}  " if found.place else ""
        lines.append(text(("✗ ", Tone.BAD), (where, Tone.STRONG), (found.error, Tone.BAD)))
        if found.source:
            lines.append(text("    ", (found.source, Tone.PLAIN)))
        lines.append(
            text(
                ("    ", Tone.QUIET),
                (_consequence(state, alive=alive), Tone.QUIET),
                ("e", Tone.ACCENT),
                (" shows all of it.", Tone.QUIET),
            )
        )
    return Text("\n").join(lines) if lines else None


def _consequence(state: State, *, alive: bool) -> str:
    match state:
        case State.BROKEN:
            goes_on = "What was loaded before goes on. " if alive else "No operator runs. "
            return f"{goes_on}Save a file to try again; "
        case State.CRASHED:
            return "It is started again after a while, with r at once; "
    return ""
