"""Reads the histories: those that the command line names, and those beside the kubeconfig of an embedded cluster."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from windvane.cli.history import files_of
from windvane.client.config import ClientConfig
from windvane.runtime.observability.journal import JournalEntry, is_written, read_journal


class UnreadableHistory(Exception):
    """A history can't be read; the message says which, and what to do."""


@dataclass(frozen=True)
class Histories:
    """What was read."""

    entries: list[JournalEntry]
    running: Mapping[str, bool]
    """Whether each operator runs that has a history here."""


def read_histories(config: ClientConfig, named: Iterable[Path]) -> Histories:
    """All entries of all histories of the operators on a cluster."""
    given = list(dict.fromkeys(named))
    for file in given:
        _check(file)
    files = dict.fromkeys([*(each.absolute() for each in files_of(config)), *(each.absolute() for each in given)])
    entries: list[JournalEntry] = []
    running: dict[str, bool] = {}
    for file in files:
        found = read_journal(file)
        if not found and file.stat().st_size and file in {each.absolute() for each in given}:
            raise UnreadableHistory(f"{file} is no history: none of its lines is what windvane run --history writes")
        entries += found
        for operator, runs in _running(file, found).items():
            running[operator] = runs or running.get(operator, False)
    return Histories(entries, running)


def _running(file: Path, entries: Sequence[JournalEntry]) -> Mapping[str, bool]:
    """Which operators with entries in a file run, and which do not; those of which that can't be told are not in it."""
    operators = {each.run: set[str]() for each in entries}
    for each in entries:
        operators[each.run].add(each.operator)
    written = is_written(file)
    if written is None:  # it was brought here: all that is known is what it says itself
        stopped = {each.run for each in entries if each.stopped}
        last = entries[-1].run if entries else ""
        return dict.fromkeys(operators[last], False) if last in stopped else {}
    return {operator: written for several in operators.values() for operator in several}


def _check(file: Path) -> None:
    try:
        with file.open("rb"):
            pass
    except FileNotFoundError:
        raise UnreadableHistory(
            f"there is no history at {file}: windvane run OPERATOR --history {file} writes one"
        ) from None
    except OSError as error:
        raise UnreadableHistory(f"the history {file} can't be read: {error.strerror or error}") from None
