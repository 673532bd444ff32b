"""`windvane add`: a kind, a webhook, a version or a controller more, for a package that `windvane init` laid out."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from windvane.cli.run import FAILED, PREFIX, WRONG_COMMAND_LINE, complain

if TYPE_CHECKING:
    from windvane.cli.additions import Addition
    from windvane.cli.package import OperatorPackage

    Groups = argparse._SubParsersAction[argparse.ArgumentParser]
    Build = Callable[[argparse.Namespace, OperatorPackage], list[Addition]]

ABOUT = f"""\
Add something to an operator, in the directory of its project:

  windvane add kind Backup                              # a kind of your own, and its controller
  windvane add kind Region --cluster-scoped --version v1
  windvane add webhook Backup --validate --mutate       # functions that judge, and fill in, what is to be stored
  windvane add version Backup v1beta1                   # a second version, and functions that convert
  windvane add controller Deployment                    # a controller of a kind that is not yours

Each comes with its test, and with the rights that it needs, in deploy/. Files are added, and to the package's
__init__.py a line that imports the new module; what you wrote stays as it is. If something is in the way, nothing is
written.

`windvane add kind --help` and so on say more.

Exit codes: 0 done, {FAILED} failed, {WRONG_COMMAND_LINE} wrong command line."""

KIND = """\
Add a kind of your own, its controller, a sample, a test and its rights:

  windvane add kind Backup                       # in the group of the kinds that are there
  windvane add kind Backup --group db.example.org --version v1
  windvane add kind Region --cluster-scoped      # its objects are in no namespace

Its controller keeps a ConfigMap for each object, which is yours to change."""

WEBHOOK = """\
Add a function that is asked before objects of a kind are stored:

  windvane add webhook Website --validate        # refuses what must not be: @operator.validate
  windvane add webhook Website --mutate          # fills in what is missing: @operator.default
  windvane add webhook Pod --validate            # a built-in kind, too

First see whether a rule or a default of the class would do: these need no operator that is up and running."""

VERSION = """\
Add a version of a kind of your own, and functions that convert between it and the one that is stored:

  windvane add version Website v1beta1
  windvane add version Website v1 --storage      # objects are stored in the new one from now on

It begins with the same fields, in a module of its own. Change them there, and say in the functions what becomes of
them; a test sees to it that nothing is lost. The controller goes on with the version that it has. With --storage,
stored=False is added to the class that is stored until now."""

CONTROLLER = """\
Add a controller of a kind that your operator does not define:

  windvane add controller Deployment
  windvane add controller nodes
  windvane add controller Certificate --group cert-manager.io --version v1        # another operator's

It looks after those objects that ask for it by a label."""


def add_to(groups: "Groups") -> None:
    """Add `add`."""
    parser = _parser(groups, "add", "add a kind, a webhook, a version or a controller to an operator", ABOUT)
    what: Groups = parser.add_subparsers(metavar="WHAT", required=True)

    kind = _parser(what, "kind", "a kind of your own, and its controller", KIND)
    kind.add_argument("kind", metavar="KIND", help="what it is called: Backup")
    kind.add_argument("--group", metavar="G", help="its group (default: that of the operator's kinds)")
    kind.add_argument("--version", default="v1alpha1", metavar="V", help="its version (default: %(default)s)")
    kind.add_argument("--cluster-scoped", action="store_true", help="its objects are in no namespace")
    kind.set_defaults(run=lambda options: _add(options, _kind))

    webhook = _parser(what, "webhook", "a function that is asked before objects are stored", WEBHOOK)
    webhook.add_argument("kind", metavar="KIND", help="a kind of the operator, or a built-in one")
    webhook.add_argument("--validate", action="store_true", help="one that refuses what must not be")
    webhook.add_argument("--mutate", action="store_true", help="one that fills in what is missing")
    webhook.set_defaults(run=lambda options: _add(options, _webhook))

    version = _parser(what, "version", "a version of a kind of your own", VERSION)
    version.add_argument("kind", metavar="KIND", help="a kind of the operator")
    version.add_argument("version", metavar="VERSION", help="the new version: v1beta1")
    version.add_argument("--storage", action="store_true", help="have objects stored in it")
    version.set_defaults(run=lambda options: _add(options, _version))

    controller = _parser(what, "controller", "a controller of a kind that is not yours", CONTROLLER)
    controller.add_argument("kind", metavar="KIND", help="a built-in kind (Deployment, nodes), or another operator's")
    controller.add_argument("--group", default="", metavar="G", help="the group of another operator's kind")
    controller.add_argument("--version", default="", metavar="V", help="its version")
    controller.add_argument("--plural", default="", metavar="P", help="its plural, if it is not the usual one")
    controller.add_argument("--cluster-scoped", action="store_true", help="its objects are in no namespace")
    controller.set_defaults(run=lambda options: _add(options, _controller))


def _parser(groups: "Groups", name: str, summary: str, about: str) -> argparse.ArgumentParser:
    return groups.add_parser(
        name, help=summary, description=about, formatter_class=argparse.RawDescriptionHelpFormatter
    )


class _Refused(Exception):
    """It can't be added; the message says why, and what to do."""


class _Wrong(_Refused):
    """The command line is wrong."""


def _add(options: argparse.Namespace, build: "Build") -> int:
    from windvane.cli.layout import BadName
    from windvane.cli.load import Broken, NoOperator
    from windvane.cli.package import NoPackage, find_package
    from windvane.cli.subject import UnknownKind

    try:
        package = find_package(Path.cwd())
        plan = _plan(package, build(options, package))
        _write(package, plan)
    except (BadName, UnknownKind, NoOperator, _Wrong) as error:
        return complain(str(error), WRONG_COMMAND_LINE)
    except (Broken, NoPackage, _Refused) as error:
        return complain(str(error), FAILED)
    _tell(package, plan)
    return 0


# What is to be added


def _kind(options: argparse.Namespace, package: "OperatorPackage") -> "list[Addition]":
    from windvane.cli.additions import add_kind
    from windvane.cli.layout import KindNames

    groups = sorted({each.__kind__.group for each in package.own_kinds})
    if options.group is None and len(groups) != 1:
        there = (
            f"the operator's kinds are in {' and '.join(groups)}" if groups else "the operator has no kind of its own"
        )
        raise _Wrong(f"{there}: say which group, such as --group {groups[0] if groups else 'example.com'}")
    names = KindNames(group=options.group or groups[0], kind=options.kind, option="")
    version = _checked_version(options.version)
    for each in package.own_kinds:
        if each.__kind__.resource == names.crd:
            raise _Refused(
                f"{options.kind} is there already, as {_place_of(package, each)}; for another version of it: "
                f"windvane add version {options.kind} v1beta1"
            )
    if names.built_in is not None:
        words = f"kubectl takes {names.plural} for the built-in {names.built_in.name}: write {names.crd} for yours"
        sys.stderr.write(f"{PREFIX}{words}\n")
    return [add_kind(package, names, version, namespaced=not options.cluster_scoped)]


def _webhook(options: argparse.Namespace, package: "OperatorPackage") -> "list[Addition]":
    from windvane.cli.additions import add_webhook
    from windvane.cli.subject import find

    operator = package.operator
    asked = [("validate", options.validate, operator.validating), ("default", options.mutate, operator.defaulting)]
    if not any(wanted for _, wanted, _ in asked):
        raise _Wrong("say what it is to do: --validate, --mutate, or both")
    subject = find(options.kind, _one_of_each(package))
    own = subject.what in package.own_kinds
    sample = _sample(package, subject.what) if own else None
    for function, wanted, there in asked:
        if wanted and (hook := there.get(subject.kind.resource)) is not None:
            called = getattr(hook.function, "__qualname__", "a function")
            raise _Refused(
                f"{subject.kind.name} has such a function already, {called} in {hook.function.__module__}: "
                f"a kind has one @operator.{function}, which may call others"
            )
    return [add_webhook(package, subject, function, sample) for function, wanted, _ in asked if wanted]


def _version(options: argparse.Namespace, package: "OperatorPackage") -> "list[Addition]":
    from windvane.cli.additions import add_version
    from windvane.cli.subject import find
    from windvane.cli.version_source import NoCopy

    version = _checked_version(options.version)
    what = find(options.kind, _one_of_each(package)).what
    if what not in package.own_kinds:
        raise _Wrong(f"{options.kind} is not a kind of this operator's own; {_own_ones(package)}")
    versions = {
        each.__kind__.version: each for each in package.own_kinds if each.__kind__.resource == what.__kind__.resource
    }
    if version in versions:
        raise _Refused(
            f"{what.__kind__.name} has the version {version} already, as {_place_of(package, versions[version])}"
        )
    [hub] = [each for each in versions.values() if each is what]
    try:
        addition = add_version(package, hub, version, stored=options.storage, sample=_sample(package, hub))
    except NoCopy as error:
        raise _Refused(
            f"{_place_of(package, hub)} can't be copied: {error}. docs/webhooks.md says how to write it"
        ) from error
    return [addition]


def _controller(options: argparse.Namespace, package: "OperatorPackage") -> "list[Addition]":
    from windvane.api.kind import Kind, is_custom, pluralize
    from windvane.cli.additions import add_controller
    from windvane.cli.layout import KindNames
    from windvane.cli.subject import UnknownKind, find, foreign

    if options.group and is_custom(Kind(group=options.group, version="v1", name="", plural="")):
        KindNames(group=options.group, kind=options.kind, option="")
        if not options.version:
            raise _Wrong(f"say which version of {options.kind} it is to see, such as --version v1")
        kind = Kind(
            group=options.group,
            version=_checked_version(options.version),
            name=options.kind,
            plural=options.plural or pluralize(options.kind),
            namespaced=not options.cluster_scoped,
        )
        subject = foreign(kind)
    else:
        try:
            subject = find(f"{options.kind}.{options.group}" if options.group else options.kind, _one_of_each(package))
        except UnknownKind as error:
            words = (
                f"{error}"
                if "did you mean" in str(error) or "several" in str(error)
                else f"{error}; of another operator's, say --group and --version"
            )
            raise _Wrong(words) from error
    own, resource = {each.__kind__.resource: each for each in package.own_kinds}, subject.kind.resource
    if resource in own:
        raise _Refused(
            f"{subject.kind.name} is this operator's own, {_place_of(package, own[resource])}: write its controller "
            "with @operator.controller"
        )
    there = [each for each in package.operator.declarations.values() if each.kind.resource == resource]
    if there:
        raise _Refused(
            f"{subject.kind.name} has a controller already, {there[0].reconcile.__name__} in "
            f"{there[0].reconcile.__module__}; for a second one, of other things, write "
            "@operator.controller(..., name=...)"
        )
    return [add_controller(package, subject)]


def _one_of_each(package: "OperatorPackage") -> list[Any]:
    """Of each own kind the class that is stored."""
    stored: dict[str, Any] = {}
    for each in package.own_kinds:
        if each.__presentation__.stored or each.__kind__.resource not in stored:
            stored[each.__kind__.resource] = each
    return list(stored.values())


def _sample(package: "OperatorPackage", what: Any) -> Path:
    if (found := package.sample_of(what)) is not None:
        return found
    kind = what.__kind__
    raise _Refused(
        f"no file in {package.samples} has one {kind.name} of {kind.api_version}, and nothing else, which its test "
        f"begins with: write {package.samples / kind.name.lower()}.yaml"
    )


def _own_ones(package: "OperatorPackage") -> str:
    names = sorted({each.__kind__.name for each in package.own_kinds})
    return f"there {'are' if len(names) > 1 else 'is'}: {', '.join(names)}" if names else "it has none"


def _place_of(package: "OperatorPackage", what: Any) -> str:
    from windvane.cli.version_source import NoCopy, line_of

    try:
        path, line = line_of(what)
    except NoCopy:
        return f"{what.__module__}.{what.__name__}"
    return f"class {what.__name__} in {package.within(path)}, line {line}"


def _checked_version(version: str) -> str:
    import re

    if not re.fullmatch(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?", version):
        raise _Wrong(f"the version {version!r} must be like v1alpha1, v1beta1 or v1")
    return version


# What is written


@dataclass(frozen=True, kw_only=True)
class _Plan:
    """All that is to be written, and said."""

    new: dict[Path, str]
    changed: dict[Path, str]
    lines: list[str]
    """The lines that are added to files that are there."""
    next: list[str]
    hints: list[str]


def _plan(package: "OperatorPackage", additions: "list[Addition]") -> _Plan:
    """What is to be written; `_Refused` if anything is in the way."""
    from windvane.cli.import_place import NoPlace, with_import
    from windvane.cli.imports import Import

    root = package.project.directory
    new = {root / path: text for each in additions for path, text in each.files.items()}
    for path in new:
        if path.exists():
            raise _Refused(f"{package.within(path)} is there already, and is left as it is: remove or rename it first")
    shared = {root / path: text for each in additions for path, text in each.shared.items()}
    new |= {path: text for path, text in shared.items() if not path.exists()}
    init = package.within(package.init)
    source = _read(package.init)
    found = source
    lines: list[str] = []
    changed_too: dict[Path, str] = {}
    for each in additions:
        for path, (text, said) in each.changed.items():
            changed_too[path] = text
            lines.append(f"{package.within(path)}: {said}")
        line = Import(package.name, each.module, each.module)
        if package.module == package.name and with_import(found, line) != found:
            raise _Refused(
                f"{init} makes the operator, so a module that needs it can only be imported after that: write "
                f"`{line.statement()}` below it, with `# noqa: E402`, and run this again"
            )
        try:
            changed = with_import(found, line)
        except NoPlace as error:
            raise _Refused(f"{init}: {error}: write `{line.statement()}` there, and run this again") from error
        if changed != found:
            lines.append(f"{init}: {line.statement()}")
        found = changed
    return _Plan(
        new=new,
        changed={**changed_too, package.init: found} if found != source else changed_too,
        lines=lines,
        next=list(dict.fromkeys(word for each in additions for word in each.next)),
        hints=list(dict.fromkeys(word for each in additions for word in each.hints)),
    )


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _Refused(f"{path} can't be read: {getattr(error, 'strerror', None) or error}") from error


def _write(package: "OperatorPackage", plan: _Plan) -> None:
    from windvane.cli.writing import write_all

    try:
        write_all(plan.new, plan.changed)
    except OSError as error:
        path = package.within(Path(error.filename)) if error.filename else package.project.directory
        raise _Refused(f"{path} can't be written: {error.strerror or error}; nothing was added") from error


def _tell(package: "OperatorPackage", plan: _Plan) -> None:
    said = [str(package.within(path)) for path in sorted(plan.new)] + plan.lines
    said += ["", "Next:", "", *(f"  {each}" for each in plan.next)]
    for hint in plan.hints:
        said += ["", f"And {hint}"]
    sys.stdout.write("".join(f"{line}\n" for line in said))
