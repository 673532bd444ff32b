"""What is to be written of what is to be added, and what is to be said of it; nothing if anything is in the way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from windvane.cli.add.additions import Addition
from windvane.cli.add.file_writer import write_all
from windvane.cli.add.import_place import NoPlace, with_import
from windvane.cli.add.imports import Import
from windvane.cli.add.package import OperatorPackage
from windvane.cli.add.requests import AddRefused


@dataclass(frozen=True, kw_only=True)
class AdditionPlan:
    """All that is to be written, and what is said then."""

    new: Mapping[Path, str]
    changed: Mapping[Path, str]
    said: Sequence[str]


def make_plan(package: OperatorPackage, additions: Sequence[Addition], *, imported: bool) -> AdditionPlan:
    """What is to be written; `AddRefused` if anything is in the way. `imported` is whether `__init__.py` is seen to."""
    root = package.project.directory
    new = {root / path: text for each in additions for path, text in each.files.items()}
    for path in new:
        if path.exists() or path.is_symlink():
            raise AddRefused(
                f"{package.within(path)} is there already, and is left as it is: remove or rename it first"
            )
    shared = {root / path: text for each in additions for path, text in each.shared.items()}
    new |= {path: text for path, text in shared.items() if not path.exists()}
    edits = {path: edit for each in additions for path, edit in each.changed.items()}
    lines = [f"{package.within(path)}: {line}" for path, (_, line) in edits.items()]
    changed = {path: text for path, (text, _) in edits.items()}
    hints = [hint for each in additions for hint in each.hints]
    needed = [Import(package.name, each.module, each.module) for each in additions]
    if imported:
        changed[package.init] = _with_imports(package, needed)
        lines += [f"{package.within(package.init)}: {each.statement()}" for each in needed]
    else:
        hints = [f"write this where it is imported with the package: {each.statement()}" for each in needed] + hints
    said = [str(package.within(path)) for path in sorted(new)] + lines
    said += ["", "Next:", "", *dict.fromkeys(f"  {command}" for each in additions for command in each.next)]
    said += [line for hint in dict.fromkeys(hints) for line in ("", f"And {hint}")]
    return AdditionPlan(new=new, changed=changed, said=said)


def _with_imports(package: OperatorPackage, needed: Sequence[Import]) -> str:
    """The package's `__init__.py` with some imports more."""
    init = package.within(package.init)
    try:
        source = package.init.read_bytes().decode()
        if package.module == package.name:
            raise NoPlace("the operator is made there, and what needs it can only be imported below that")
        for each in needed:
            source = with_import(source, each)
    except NoPlace as error:
        statement = "; ".join(each.statement() for each in needed)
        raise AddRefused(
            f"{init}: {error}: run this with --no-import, and write `{statement}` there yourself"
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise AddRefused(f"{init} can't be read: {getattr(error, 'strerror', None) or error}") from error
    return source


def write(package: OperatorPackage, plan: AdditionPlan) -> None:
    """Write all of it, or nothing."""
    try:
        write_all(plan.new, plan.changed)
    except OSError as error:
        path = package.within(Path(error.filename)) if error.filename else package.project.directory
        raise AddRefused(f"{path} can't be written: {error.strerror or error}; nothing was added") from error
