"""The samples of a project on the cluster: applied at first, and again when they are saved."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from windvane.cli.dev.applier import Applier, ApplyRefused
from windvane.cli.manifests import (
    Manifest,
    NotThere,
    UnreadableManifest,
    changes,
    is_manifest,
    manifest_files,
    read_manifests,
    shown,
)

SHOWN = 5


class Samples:
    """Files with objects, and what was applied of them."""

    def __init__(
        self, paths: Sequence[Path], applier: Applier, note: Callable[..., None], *, goes_on: bool = False
    ) -> None:
        """With `goes_on`, what is there from last time is left as it is, until its file is saved."""
        self._leave = goes_on
        self._paths = [each.resolve() for each in paths]
        self._applier = applier
        self._note = note
        self._applied: dict[Path, list[Manifest]] = {}
        self._outstanding = set(manifest_files(self._paths))
        self._lock = asyncio.Lock()

    def has(self, file: Path) -> bool:
        """Whether it is one of them, or would be."""
        return is_manifest(file) and any(file == each or each in file.parents for each in self._paths)

    def expect(self, saved: Iterable[Path]) -> None:
        """These were saved: they are applied next time."""
        self._outstanding |= {*saved}

    async def apply(self) -> None:
        """Apply what was saved, and what was not applied yet or was refused."""
        async with self._lock:
            files = sorted(self._outstanding)
            self._outstanding.clear()
            for file in files:
                await self._apply(file)
            self._leave = False

    async def _apply(self, file: Path) -> None:
        try:
            wanted = read_manifests(file)
        except NotThere:
            self._tell_missing(file, self._applied.pop(file, []), [])
            return
        except UnreadableManifest as error:
            self._note(str(error), problem=True)
            return
        before = {each.key: each for each in self._applied.get(file, [])}
        refused = set()
        for each in wanted:
            try:
                if self._leave and await self._applier.find(each) is not None:
                    self._note(f"{shown(file)}: {each} is there from last time, and is left as it is")
                    continue
                outcome = (await self._applier.apply(each)).outcome
            except ApplyRefused as error:
                self._note(str(error), problem=True)
                self._outstanding.add(file)
                refused.add(each.key)
                continue
            changed = changes(before[each.key], each) if each.key in before else []
            if outcome != "as it was" or changed or each.key not in before:
                self._note(f"{shown(file)}: {each} is {_told(outcome, changed)}")
        self._tell_missing(file, list(before.values()), wanted)
        # Of one that was there before it was refused, what the cluster has is what was applied then.
        kept = [before.get(each.key) if each.key in refused else each for each in wanted]
        self._applied[file] = [each for each in kept if each is not None]

    def _tell_missing(self, file: Path, before: Iterable[Manifest], after: Iterable[Manifest]) -> None:
        there = {each.key for each in after}
        for each in before:
            if each.key not in there:
                where = f" -n {each.namespace}" if each.namespace else ""
                delete = f"kubectl delete {each.kind.lower()} {each.name}{where}"
                self._note(f"{shown(file)}: {each} is not in it any more, and stays; to have it go: {delete}")


def _told(outcome: str, changed: Sequence[str]) -> str:
    if outcome != "changed" or not changed:
        return outcome
    more = f", and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    return f"changed: {', '.join(changed[:SHOWN])}{more}"
