"""What a command line asks to be added, once it is known that it can be: names are right, and nothing has them yet."""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from windvane.api.kind import Kind, is_custom, pluralize
from windvane.cli.add.additions import Addition, add_controller, add_kind, add_version, add_webhook
from windvane.cli.add.package import OperatorPackage
from windvane.cli.add.subject import UnknownKind, find, foreign
from windvane.cli.add.version_source import NoCopy, line_of
from windvane.cli.command_error import PREFIX
from windvane.cli.layout import KindNames


class AddRefused(Exception):
    """It can't be added; the message says why, and what to do."""


class Wrong(AddRefused):
    """The command line is wrong."""


def kind(options: argparse.Namespace, package: OperatorPackage) -> list[Addition]:
    """A kind of one's own."""
    groups = sorted({each.__kind__.group for each in package.own_kinds})
    if options.group is None and len(groups) != 1:
        there = (
            f"the operator's kinds are in {' and '.join(groups)}" if groups else "the operator has no kind of its own"
        )
        raise Wrong(f"{there}: say which group, such as --group {groups[0] if groups else 'example.com'}")
    names = KindNames(group=options.group or groups[0], kind=options.kind, option="")
    version = _checked_version(options.version)
    for each in package.own_kinds:
        if each.__kind__.resource == names.crd:
            raise AddRefused(
                f"{options.kind} is there already, as {_place_of(package, each)}; for another version of it: "
                f"windvane add version {options.kind} v1beta1"
            )
    if names.built_in is not None:
        words = f"kubectl takes {names.plural} for the built-in {names.built_in.name}: write {names.crd} for yours"
        sys.stderr.write(f"{PREFIX}{words}\n")
    return [add_kind(package, names, version, namespaced=not options.cluster_scoped)]


def webhook(options: argparse.Namespace, package: OperatorPackage) -> list[Addition]:
    """Functions that are asked before objects of a kind are stored."""
    operator = package.operator
    asked = [("validate", options.validate, operator.validating), ("default", options.mutate, operator.defaulting)]
    if not any(wanted for _, wanted, _ in asked):
        raise Wrong("say what it is to do: --validate, --mutate, or both")
    subject = find(options.kind, _one_of_each(package))
    own = subject.what in package.own_kinds
    sample = _sample(package, subject.what) if own else None
    for function, wanted, there in asked:
        if wanted and (hook := there.get(subject.kind.resource)) is not None:
            called = getattr(hook.function, "__qualname__", "a function")
            raise AddRefused(
                f"{subject.kind.name} has such a function already, {called} in {hook.function.__module__}: "
                f"a kind has one @operator.{function}, which may call others"
            )
    return [add_webhook(package, subject, function, sample) for function, wanted, _ in asked if wanted]


def version(options: argparse.Namespace, package: OperatorPackage) -> list[Addition]:
    """A version of a kind of one's own."""
    version = _checked_version(options.version)
    what = find(options.kind, _one_of_each(package)).what
    if what not in package.own_kinds:
        raise Wrong(f"{options.kind} is not a kind of this operator's own; {_own_ones(package)}")
    versions = {
        each.__kind__.version: each for each in package.own_kinds if each.__kind__.resource == what.__kind__.resource
    }
    if version in versions:
        raise AddRefused(
            f"{what.__kind__.name} has the version {version} already, as {_place_of(package, versions[version])}"
        )
    [hub] = [each for each in versions.values() if each is what]
    try:
        addition = add_version(package, hub, version, stored=options.storage, sample=_sample(package, hub))
    except NoCopy as error:
        raise AddRefused(
            f"{_place_of(package, hub)} can't be copied: {error}. docs/webhooks.md says how to write it"
        ) from error
    return [addition]


def controller(options: argparse.Namespace, package: OperatorPackage) -> list[Addition]:
    """A controller of a kind that the operator does not define."""
    if options.group and is_custom(Kind(group=options.group, version="v1", name="", plural="")):
        KindNames(group=options.group, kind=options.kind, option="")
        if not options.version:
            raise Wrong(f"say which version of {options.kind} it is to see, such as --version v1")
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
            raise Wrong(words) from error
    own, resource = {each.__kind__.resource: each for each in package.own_kinds}, subject.kind.resource
    if resource in own:
        raise AddRefused(
            f"{subject.kind.name} is this operator's own, {_place_of(package, own[resource])}: write its controller "
            "with @operator.controller"
        )
    there = [each for each in package.operator.declarations.values() if each.kind.resource == resource]
    if there:
        raise AddRefused(
            f"{subject.kind.name} has a controller already, {there[0].reconcile.__name__} in "
            f"{there[0].reconcile.__module__}; for a second one, of other things, write "
            "@operator.controller(..., name=...)"
        )
    return [add_controller(package, subject)]


def _one_of_each(package: OperatorPackage) -> list[Any]:
    """Of each own kind the class that is stored."""
    stored: dict[str, Any] = {}
    for each in package.own_kinds:
        if each.__presentation__.stored or each.__kind__.resource not in stored:
            stored[each.__kind__.resource] = each
    return list(stored.values())


def _sample(package: OperatorPackage, what: Any) -> Path:
    if (found := package.sample_of(what)) is not None:
        return found
    kind = what.__kind__
    raise AddRefused(
        f"no file in {package.samples} has one {kind.name} of {kind.api_version}, and nothing else, which its test "
        f"begins with: write {package.samples / kind.name.lower()}.yaml"
    )


def _own_ones(package: OperatorPackage) -> str:
    names = sorted({each.__kind__.name for each in package.own_kinds})
    return f"there {'are' if len(names) > 1 else 'is'}: {', '.join(names)}" if names else "it has none"


def _place_of(package: OperatorPackage, what: Any) -> str:

    try:
        path, line = line_of(what)
    except NoCopy:
        return f"{what.__module__}.{what.__name__}"
    return f"class {what.__name__} in {package.within(path)}, line {line}"


def _checked_version(version: str) -> str:

    if not re.fullmatch(r"v[1-9][0-9]*((alpha|beta)[1-9][0-9]*)?", version):
        raise Wrong(f"the version {version!r} must be like v1alpha1, v1beta1 or v1")
    return version
