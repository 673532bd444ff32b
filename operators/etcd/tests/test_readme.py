"""The README tells of everything that a user can write, and of everything that the operator may answer."""

import re
from pathlib import Path
from typing import Any

from etcd_operator.act import HAPPENED
from etcd_operator.api import EtcdBackup, EtcdCluster
from etcd_operator.steps import Step
from windvane import Object, crd, object_to_wire

README = (Path(__file__).parents[1] / "README.md").read_text()
OTHERS = {"resources", "securityContext"}
"""Fields that are Kubernetes' own below."""


def fields(schema: dict[str, Any], above: str = "") -> list[str]:
    """The paths of all fields, as users write them."""
    found = []
    for name, below in schema.get("properties", {}).items():
        found += [above + name] if name in OTHERS else [above + name, *fields(below, f"{above}{name}.")]
    return found


def spec(kind: type[Object]) -> dict[str, Any]:
    definition: dict[str, Any] = object_to_wire(crd(kind))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    found: dict[str, Any] = definition["properties"]["spec"]
    return found


def test_every_field_of_the_spec_is_in_the_readme() -> None:
    every = [*fields(spec(EtcdCluster)), *fields(spec(EtcdBackup))]
    assert {"replicas", "restore.volumeClaim", "cluster"} <= set(every)
    assert [each for each in every if f"`{each}`" not in README] == []


def test_no_field_is_in_the_table_that_is_not_in_the_spec() -> None:
    table = README.partition("## The spec")[2].partition("\n## ")[0]
    told = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    assert told == {each for each in fields(spec(EtcdCluster)) if "." not in each}


def test_every_step_and_its_event_are_in_the_readme() -> None:
    reasons = {each.__name__ for each in Step.__subclasses__()}
    assert [each for each in (*reasons, *HAPPENED.values()) if not re.search(rf"\b{each}\b", README)] == []


def test_every_event_is_in_the_readme() -> None:
    source = Path(__file__).parents[1] / "src" / "etcd_operator"
    modules = {each.stem: each.read_text() for each in source.glob("*.py")}
    told = {each for text in modules.values() for each in re.findall(r'ctx\.event\(\s*"(\w+)"', text)}
    told |= {each for name in ("tls", "auth") for each in re.findall(r'\("([A-Z]\w+)", f?"', modules[name])}
    assert {"Bootstrapped", "CARotation", "AuthEnabled", "GivenUp"} <= told
    assert [each for each in sorted(told) if not re.search(rf"\b{each}\b", README)] == []


def test_every_reason_of_a_condition_is_in_the_readme() -> None:
    source = Path(__file__).parents[1] / "src" / "etcd_operator"
    said = re.findall(r'Said\(\s*"(\w+)", \w+, "(\w+)"', (source / "report.py").read_text())
    health = re.findall(r'BackupHealth\(\s*\w+, \w+, "(\w+)"', (source / "backup_health.py").read_text())
    assert len(said) > 8
    assert len(health) > 3
    reasons = {*(reason for _, reason in said), *health}
    assert [each for each in sorted(reasons) if not re.search(rf"\b{each}\b", README)] == []
