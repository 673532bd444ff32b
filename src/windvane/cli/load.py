"""Finds the operator, or the kinds, that a command line names: `module:attribute`, or `path/to/file.py:attribute`."""

import importlib
import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType, TracebackType

from windvane.api.resource import Object, Resource
from windvane.runtime.operator import Operator

ATTRIBUTE = "operator"
SOURCES = "src"


class NoOperator(Exception):
    """There is no such operator, or no such kind; the message says what there is, and what to write."""


class Broken(Exception):
    """The author's module raised something while it was imported; the message is a line that says what, and where."""

    def __init__(self, place: str, error: Exception | SystemExit, directory: Path) -> None:
        self.what = _what(error)
        self.file, self.line = _origin(error, directory)
        self.shown = _shown(error)
        """The traceback, from the author's first line on."""
        at = _relative(self.file, directory)
        super().__init__(f"{place} can't be imported: {self.what} ({at}, line {self.line})")


def load_operator(named: str, directory: Path) -> Operator:
    """The operator that `named` is, looked for in `directory` first and then wherever Python finds modules."""
    place, _, attribute = named.partition(":")
    return _operator_in(_load(named, place, directory), place, attribute or ATTRIBUTE, directory)


def load_kinds(named: str, directory: Path) -> list[type[Object]]:
    """The kinds of one's own that `named` is, or the operator that it is has; all of a module's if it names no more."""
    place, _, attribute = named.partition(":")
    module = _load(named, place, directory)
    there = {name: value for name, value in vars(module).items() if isinstance(value, Operator) or _is_kind(value)}
    if attribute and attribute not in there:
        say = f"write {' or '.join(f'{place}:{name}' for name in there)}" if there else "there is none in it"
        raise NoOperator(f"{place}:{attribute} is no kind and no Operator; {say}")
    chosen = [there[attribute]] if attribute else list(there.values())
    kinds = [what for each in chosen for what in (each.kinds if isinstance(each, Operator) else [each])]
    if own := list(dict.fromkeys(what for what in kinds if _is_kind(what))):
        return own
    if not there:
        raise NoOperator(f"there is no kind in {place}: a class Website(Resource[WebsiteSpec, Status], ...), say")
    raise NoOperator(f"{named} has only kinds of others, whose CRDs are theirs to install")


def _is_kind(value: object) -> bool:
    """Whether it is the class of a kind of the author's own."""
    return isinstance(value, type) and issubclass(value, Resource) and "__kind__" in vars(value)


def _load(named: str, place: str, directory: Path) -> ModuleType:
    if not place:
        raise NoOperator(f"{named!r} names no module: write MODULE:ATTRIBUTE, such as website:{ATTRIBUTE}")
    for each in (directory / SOURCES, directory):  # the sources of a project count also before it is installed
        if each.is_dir() and str(each) not in sys.path:
            sys.path.insert(0, str(each))
    try:
        if place.endswith(".py") or "/" in place:
            return _import_file(directory / place)
        return _import_module(place, directory)
    except NoOperator:
        raise
    except (Exception, SystemExit) as error:  # sys.exit at import would end us without a word
        raise Broken(place, error, directory) from error


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise NoOperator(f"there is no file {path}{_files_in(path.parent)}")
    if path.suffix != ".py":
        raise NoOperator(f"{path} is no Python module: its name must end in .py")
    package = [path.stem]
    root = path.resolve().parent
    while (root / "__init__.py").is_file():  # a part of a package is imported as such: it may import its neighbours
        package.insert(0, root.name)
        root = root.parent
    sys.path.insert(0, str(root))
    if len(package) > 1:
        return importlib.import_module(".".join(package))
    # Not by its name alone: a file may be called operator.py, and Python has a module of that name.
    name = path.stem if path.stem not in sys.modules else f"windvane_run_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise NoOperator(f"{path} can't be imported")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _import_module(name: str, directory: Path) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not (name == error.name or name.startswith(f"{error.name}.")):
            raise  # the module is there; one that it imports is not
        raise NoOperator(
            f"there is no module {name!r}, neither in {directory} nor among the installed ones{_files_in(directory)}"
        ) from error


def _operator_in(module: ModuleType, place: str, attribute: str, directory: Path) -> Operator:
    found = getattr(module, attribute, None)
    if isinstance(found, Operator):
        return found
    if hasattr(module, attribute):
        is_what = "class" if isinstance(found, type) else type(found).__name__
        problem = f"{place}:{attribute} is a {is_what}, not an Operator"
    else:
        problem = f"{place} ({getattr(module, '__file__', None) or 'built into Python'}) has no {attribute!r}"
    there = [name for name, value in vars(module).items() if isinstance(value, Operator)]
    file = f"{place}.py"
    if there:
        raise NoOperator(f"{problem}; write {' or '.join(f'{place}:{name}' for name in there)}")
    if not place.endswith(".py") and (directory / file).is_file() and _is_elsewhere(module, directory):
        raise NoOperator(f"{problem}; to run the file here, write {file}:{attribute}")
    raise NoOperator(f'{problem}; there is no Operator in it: write {ATTRIBUTE} = Operator("NAME") there')


def _is_elsewhere(module: ModuleType, directory: Path) -> bool:
    file = getattr(module, "__file__", None)
    return file is None or Path(file).resolve().parent != directory.resolve()


def _files_in(directory: Path) -> str:
    files = sorted(each.name for each in directory.glob("*.py"))
    return f"; in {directory} there are: {', '.join(files[:10])}" if files else ""


def _what(error: Exception | SystemExit) -> str:
    if isinstance(error, SystemExit):
        return f"it ends the program when it is imported: sys.exit({'' if error.code is None else repr(error.code)})"
    return " ".join([f"{type(error).__name__}:", *_said(error).split()]).rstrip(":")


def _said(error: Exception) -> str:
    return error.msg if isinstance(error, SyntaxError) else str(error)  # which names the file once more


def _origin(error: Exception | SystemExit, directory: Path) -> tuple[str, int]:
    """Where it was raised: the innermost line of the author's, or else the innermost of all."""
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 1
    frames = [
        (each.filename, each.lineno or 1)
        for each in traceback.extract_tb(_without_machinery(error) or error.__traceback__)
    ]
    own = [
        frame for frame in frames if Path(frame[0]).is_relative_to(directory) and ".venv" not in Path(frame[0]).parts
    ]
    return (own or frames)[-1]


def _relative(file: str, directory: Path) -> str:
    return str(Path(file).relative_to(directory)) if Path(file).is_relative_to(directory) else file


def _shown(error: Exception | SystemExit) -> str:
    """The traceback, from the author's first line on: how we came there is of no interest."""
    return "".join(traceback.format_exception(type(error), error, _without_machinery(error))).rstrip()


def _without_machinery(error: Exception | SystemExit) -> TracebackType | None:
    frames = error.__traceback__
    while frames is not None and _is_machinery(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    return frames


def _is_machinery(file: str) -> bool:
    return file.startswith("<frozen importlib") or file in (__file__, importlib.__file__)
