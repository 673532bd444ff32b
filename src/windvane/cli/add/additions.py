"""What `windvane add` adds to a package: its new files, the module to be imported, and what is to be done then.

The files are in `templates/`. Nothing is written here.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePath
from typing import Any

import msgspec
import yaml

from windvane.api.resource import Object, Resource, kind_of
from windvane.cli.add.imports import Import, call, import_block
from windvane.cli.add.package import OperatorPackage
from windvane.cli.add.subject import Subject
from windvane.cli.add.version_source import Copied, copied, line_of, not_stored
from windvane.cli.layout import KindNames, filled_in
from windvane.k8s.core import ConfigMap
from windvane.runtime.informers.informer import ALL, Selection

DOMAIN = "example.com"
OWN_FIELDS = ("api_version", "kind", "metadata")
RUN = "windvane run --install-crds"
WEBHOOKS, ADMISSION, CONVERSION = "webhooks", "admission", "conversion"


@dataclass(frozen=True, kw_only=True)
class Addition:
    """Files that are to be there, as seen from the project's directory."""

    files: Mapping[PurePath, str]
    module: str
    """The module of the package that its `__init__.py` must import."""
    shared: Mapping[PurePath, str] = field(default_factory=dict)
    """What an earlier addition may have brought along; then it is left as it is."""
    changed: Mapping[Path, tuple[str, str]] = field(default_factory=dict)
    """What is to be in files of the author's, and the line that is new there."""
    next: Sequence[str] = ()
    """Commands that show what came of it."""
    hints: Sequence[str] = ()
    """What its author has to do by hand."""


class _Templates:
    """Fills in the templates for one package."""

    def __init__(self, package: OperatorPackage) -> None:
        self.package = package
        deployed = package.deployed()
        self.deployed = deployed
        self.values = {
            "account": deployed.account,
            "deploy": str(package.deploy),
            "domain": domain_of(package),
            "labels": yaml.safe_dump(deployed.labels, default_flow_style=True, width=1000, sort_keys=False).strip(),
            "namespace_of_account": deployed.namespace,
            "operator": package.attribute,
            "operator_name": package.operator.name,
        }

    def of(self, directory: str, name: str, values: Mapping[str, str], version: str = "") -> dict[PurePath, str]:
        """The files of one directory of templates."""
        here: Traversable = files("windvane.cli.add") / "templates" / directory
        places = {"PACKAGE": "PACKAGE", "NAME": name, "VERSION": version}
        filled = filled_in(here, places, {**self.values, **values})
        return {self._place(path): text.rstrip("\n") + "\n" for path, text in filled}

    def _place(self, path: PurePath) -> PurePath:
        package = self.package
        match path.parts:
            case ("src", "PACKAGE", *rest):
                return package.within(package.directory).joinpath(*rest)
            case ("deploy", *rest):
                return package.deploy.joinpath(*rest)
            case ("samples", *rest):
                return package.samples.joinpath(*rest)
            case _:
                return path

    def imports(self, *imports: Import | Iterable[Import]) -> str:
        """A block of import statements."""
        flat = [one for each in imports for one in ([each] if isinstance(each, Import) else each)]
        return import_block(flat, self.package.name)

    @property
    def operator(self) -> Import:
        """The import of the operator."""
        return Import(self.package.module, self.package.attribute)

    def served(self, *directories: str, name: str = "", resource: str = "", kind: str = "") -> dict[PurePath, str]:
        """The manifests that an operator with webhooks needs, whatever they are for."""
        values = {"kind": kind, "resource": resource, "singular": name}
        return {path: text for each in (WEBHOOKS, *directories) for path, text in self.of(each, name, values).items()}

    @property
    def hints(self) -> list[str]:
        """What the manifests lack that an operator with webhooks needs."""
        if self.deployed.named_service:
            return []
        service = f"{self.deployed.account}-webhooks"
        return [f"put this into the args of its Deployment in {self.package.deploy}: --webhook-service, {service}"]


def domain_of(package: OperatorPackage) -> str:
    """What labels and annotations of the operator begin with: the group of its first kind."""
    return next((each.__kind__.group for each in package.own_kinds), DOMAIN)


def add_kind(package: OperatorPackage, names: KindNames, version: str, *, namespaced: bool) -> Addition:
    """A kind of one's own, and its controller."""
    templates = _Templates(package)
    used = ["Column", "MinProperties", "Resource", "Rule", "Spec", "Status"]
    name = names.singular
    sample = package.samples / f"{name}.yaml"
    api = f"{package.name}.{name}_api"
    windvane = [Import("windvane", each) for each in ("Context", "ObjectMeta")]
    test = [Import("windvane", each) for each in ("Invalid", "ObjectMeta", "object_from_wire", "testing")]
    core = Import("windvane.k8s", "core")
    only = package.operator.narrowed.get(kind_of(ConfigMap), ALL)
    watched = dict(only.labels) if isinstance(only.labels, Mapping) else {}
    values = {
        "api_names": ", ".join(used if namespaced else sorted([*used, "MinLength"])),
        "group": names.group,
        "it": names.it,
        "kind": names.kind,
        "labels_of_children": f"\n    metadata.labels = {json.dumps(watched)}" if watched else "",
        "namespace": "" if namespaced else f", namespace={names.it}.spec.namespace",
        "namespace_field": "" if namespaced else NAMESPACE_FIELD,
        "plural": names.plural,
        "sample": str(sample),
        "scope": "" if namespaced else '\n    scope="Cluster",',
        "singular": name,
        "up": "1",
        "version": version,
    }
    in_controller = templates.imports(windvane, core, Import(api, names.kind), templates.operator)
    given = {**values, "imports": in_controller}
    of_test = templates.imports(
        *(Import("pathlib", "Path"), Import("pytest"), Import("yaml"), test, core),
        *(Import(package.name, f"{name}_api", "api"), templates.operator),
    )
    found = templates.of("kind", name, given)
    tests = PurePath("tests") / f"test_{name}.py"
    found[tests] = templates.of("kind", name, {**values, "imports": of_test})[tests]
    resource = names.crd if names.built_in else names.plural
    return Addition(
        files=found,
        module=f"{name}_controller",
        next=["pytest", RUN, f"kubectl apply -f {sample}", f"kubectl get {resource}"],
        hints=[NARROWED.format(name)] if only != ALL and only != Selection(labels=watched) else [],
    )


NARROWED = "have its ConfigMap match what watch_only says of ConfigMaps, in {}_controller.py"
NAMESPACE_FIELD = '''
    namespace: Annotated[str, MinLength(1)] = "default"
    """Where that ConfigMap is."""'''


def add_controller(package: OperatorPackage, subject: Subject) -> Addition:
    """A controller of a kind that the operator does not define."""
    templates = _Templates(package)
    kind, name = subject.kind, subject.singular
    module = f"{name}_controller"
    values = {
        "annotation": subject.annotation,
        "api_group": kind.group or '""',
        "code": subject.code,
        "definition": f"\n{subject.definition}\n" if subject.definition else "",
        "example": example_of(subject),
        "it": subject.it,
        "kind": kind.name,
        "plural": kind.plural,
        "resource": kind.resource,
        "singular": name,
    }
    imports = templates.imports(Import("windvane", "Context"), subject.imports, templates.operator)
    found = templates.of("controller", name, {**values, "imports": imports})
    tests = PurePath("tests") / f"test_{module}.py"
    code = f"controller.{subject.code}" if subject.definition else subject.code
    of_test = templates.imports(
        *(Import("yaml"), [Import("windvane", each) for each in ("object_from_wire", "testing")]),
        *([] if subject.definition else subject.imports),
        *([Import("windvane", "Dynamic")] if subject.definition else []),
        *(Import(package.name, module, "controller"), templates.operator),
    )
    found[tests] = templates.of("controller", name, {**values, "code": code, "imports": of_test})[tests]
    label = f"{domain_of(package)}/describe=true"
    return Addition(files=found, module=module, next=["pytest", RUN, f"kubectl label {kind.resource} NAME {label}"])


def add_webhook(package: OperatorPackage, subject: Subject, function: str, sample: Path | None) -> Addition:
    """A function that judges objects (`validate`), or fills them in (`default`), before they are stored."""
    templates = _Templates(package)
    kind, name = subject.kind, subject.singular
    module = {"validate": "validation", "default": "defaults"}[function]
    values = {
        "annotation": subject.annotation,
        "code": subject.code,
        "given": _given(subject, sample),
        "it": subject.it,
        "kind": kind.name,
        "on_a_cluster": ON_A_CLUSTER[function].format(operator=package.attribute, code=subject.code) if sample else "",
        "signature": call(
            "def fill_in(",
            [f"{subject.it}: {subject.annotation}", f"request: AdmissionRequest[{subject.annotation}]"],
            ") -> None:",
        ),
    }
    needed = {"validate": ["Denied"], "default": ["AdmissionRequest"]}[function]
    imports = templates.imports([Import("windvane", each) for each in needed], subject.imports, templates.operator)
    found = templates.of(function, name, {**values, "imports": imports})
    if function == "validate":
        of_test = [Import("pytest"), *(Import("windvane", each) for each in ("Denied", "object_from_wire"))]
        of_test += [Import("windvane", each) for each in ("Forbidden", "testing")] if sample else []
    else:
        of_test = [Import("windvane", each) for each in ("AdmissionRequest", "object_from_wire")]
        of_test += [Import("windvane.k8s.authentication", "UserInfo")]
        of_test += [Import("windvane", "testing")] if sample else []
    of_test += [Import("yaml"), Import(package.name, f"{name}_{module}", module), *subject.imports]
    of_test += [Import("pathlib", "Path"), templates.operator] if sample else []
    tests = PurePath("tests") / f"test_{name}_{module}.py"
    found[tests] = templates.of(function, name, {**values, "imports": templates.imports(of_test)})[tests]
    return Addition(
        files=found,
        module=f"{name}_{module}",
        shared=templates.served(ADMISSION),
        next=["pytest", RUN],
        hints=templates.hints,
    )


def _given(subject: Subject, sample: Path | None) -> str:
    """How the test comes by an object."""
    example = (
        f"def example() -> {subject.annotation}:\n    return object_from_wire(yaml.safe_load(%s), {subject.code})\n"
    )
    if sample is None:
        return f'\nEXAMPLE = """\n{example_of(subject)}"""\n\n\n{example % "EXAMPLE"}'
    return f'\nSAMPLE = Path(__file__).parents[1] / "{sample.as_posix()}"\n\n\n{example % "SAMPLE.read_text()"}'


ON_A_CLUSTER = {
    "validate": """

async def test_the_api_server_asks(cluster: testing.Cluster) -> None:
    await cluster.run({operator})
    there = (await cluster.apply(kept())).metadata
    with pytest.raises(Forbidden, match="it is to be kept"):
        await cluster.delete({code}, there.name, namespace=there.namespace)
""",
    "default": """

async def test_the_api_server_asks(cluster: testing.Cluster) -> None:
    await cluster.run({operator})
    assert defaults.MADE_BY in (await cluster.apply(example())).metadata.annotations
""",
}


def add_version(
    package: OperatorPackage, what: type[Resource[Any, Any]], version: str, *, stored: bool, sample: Path
) -> Addition:
    """Another version of a kind, that begins as the one that is stored, and functions that convert."""
    templates = _Templates(package)
    kind, name = what.__kind__, what.__kind__.name.lower()
    module = f"{name}_{version}"
    classes = copied(what, version, stored=stored, package=package.name)
    parent, _, leaf = what.__module__.rpartition(".")
    old = Import(parent, leaf, kind.version)
    new = Import(package.name, module, version)
    new_sample = package.samples / f"{name}-{version}.yaml"
    values = {
        "class_name": what.__name__,
        "down": _conversion(what, classes, "new", kind.version),
        "kind": kind.name,
        "new": version,
        "new_sample": new_sample.as_posix(),
        "new_version": version,
        "old": kind.version,
        "old_version": kind.version,
        "sample": sample.as_posix(),
        "up": _conversion(what, classes, "old", version),
    }
    imports = templates.imports(old, new, templates.operator)
    found = templates.of("version", name, {**values, "imports": imports}, version)
    of_test = templates.imports(
        *(
            Import("pathlib", "Path"),
            Import("yaml"),
            [Import("windvane", each) for each in ("object_from_wire", "testing")],
        ),
        *(Import(package.name, f"{module}_conversion", "conversion"), old, new, templates.operator),
    )
    tests = PurePath("tests") / f"test_{module}.py"
    found[tests] = templates.of("version", name, {**values, "imports": of_test}, version)[tests]
    doc = f'"""The kind {kind.name} in the version {version}, which began as {kind.version}."""'
    text = "\n\n\n".join([f"{doc}\n\n{templates.imports(classes.imports)}", *classes.classes]) + "\n"
    found[package.within(package.directory) / f"{module}.py"] = text
    text = (package.project.directory / sample).read_text(encoding="utf-8")
    found[new_sample] = _renamed(text, version).replace(kind.api_version, f"{kind.group}/{version}", 1)
    changed: dict[Path, tuple[str, str]] = {}
    if stored:
        path, _ = line_of(what)
        changed[path] = not_stored(path.read_bytes().decode(), what.__name__), "stored=False"
    return Addition(
        files=found,
        module=f"{module}_conversion",
        changed=changed,
        shared=templates.served(CONVERSION, name=name, resource=kind.resource, kind=kind.name),
        next=["pytest", RUN, f"kubectl apply -f {new_sample}", f"kubectl get {kind.plural}.{version}.{kind.group}"],
        hints=templates.hints,
    )


def _renamed(manifest: str, version: str) -> str:
    """A sample whose object has a name of its own: what is applied in two versions in turn belongs to neither."""
    name = yaml.safe_load(manifest).get("metadata", {}).get("name", "")
    return re.sub(rf"(\bname:\s*[\"']?){re.escape(name)}\b", rf"\g<1>{name}-{version}", manifest, count=1)


def _conversion(what: type[Object], classes: Copied, given: str, to: str) -> str:
    """The body of a function that makes an object of one version from that of another, field by field."""
    types = {each.name: each.type for each in msgspec.structs.fields(what)}
    lines: list[str] = []
    arguments = [f"metadata={given}.metadata"]
    for name in (each for each in types if each not in OWN_FIELDS):
        if name in classes.parts:
            part = _type(what, name)
            fields = [f"        {each.name}={given}.{name}.{each.name},\n" for each in msgspec.structs.fields(part)]
            lines.append(
                f"    {name} = {to}.{part.__name__}(" + ("\n" + "".join(fields) + "    " if fields else "") + ")"
            )
            arguments.append(f"{name}={name}")
        else:
            arguments.append(f"{name}={given}.{name}")
    lines.append(f"    return {to}.{what.__name__}({', '.join(arguments)})")
    return "\n".join(lines)


def _type(what: type[Object], name: str) -> Any:
    from windvane.api.hints import type_hints

    return type_hints(what)[name]


def example_of(subject: Subject) -> str:
    """A manifest that an API server takes for an object of the kind, called `example` if it may be."""
    kind = subject.kind
    examples = yaml.safe_load((files("windvane.cli.add") / "templates" / "examples.yaml").read_text(encoding="utf-8"))
    more = examples.get(kind.resource, {})
    name = more.pop("name", "example")
    lines = [f"apiVersion: {kind.api_version}", f"kind: {kind.name}", f"metadata: {{name: {name}}}"]
    rest = [
        yaml.safe_dump({key: value}, default_flow_style=_flow(value), sort_keys=False, width=110)
        for key, value in more.items()
    ]
    return "\n".join(lines) + "\n" + "".join(rest)


def _flow(value: object) -> bool | None:
    """How YAML is to show what a key has: the innermost of what is nested in one line."""
    return None if isinstance(value, dict | list) else False
