"""Objects in files: where they are, and what differs between two of them."""

from io import StringIO
from pathlib import Path

import pytest

from windvane.cli.manifests import STDIN, Manifest, UnreadableManifest, changes, manifest_files, read_manifests

TWO = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: a, namespace: b}
data: {on: 2024-01-02}
---
# nothing
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: p}}
"""


def test_each_object_is_told_with_its_line_and_dates_are_text(tmp_path: Path) -> None:
    file = tmp_path / "two.yaml"
    file.write_text(TWO)
    one, other = read_manifests(file)
    assert (one.line, str(one), one.wire["data"]) == (1, "ConfigMap b/a", {True: "2024-01-02"})
    assert (other.line, str(other), other.key) == (8, "Pod p", ("v1", "Pod", "", "p"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "{file}:1: expected the node content, but found '<stream end>'"),
        ("\na: b", "{file}:2: this is no object: it needs apiVersion, kind and metadata"),
        ("- a", "{file}:1: this is no object: it needs apiVersion, kind and metadata"),
        ("{kind: A, metadata: {name: a}}", "{file}:1: this is no object: it needs apiVersion, kind and metadata"),
        ("{apiVersion: v1, kind: Pod, metadata: {}}", "{file}:1: Pod has no metadata.name"),
        ("{apiVersion: v1, kind: Pod, metadata: {generateName: a}}", "{file}:1: Pod has no metadata.name"),
        ("a: \x07", "{file}: unacceptable character #x0007: special characters are not allowed in"),
        (None, "{file} is not there"),
    ],
)
def test_what_is_no_object_is_told_with_its_line(tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "a.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(UnreadableManifest) as raised:
        read_manifests(file)
    assert str(raised.value).startswith(said.format(file=file))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("kind", ["List", "ConfigMapList"])
def test_standard_input_is_a_file_too_and_a_list_is_its_items(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    item = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"
    monkeypatch.setattr("sys.stdin", StringIO(f"{{apiVersion: v1, kind: {kind}, items: [{item}]}}"))
    (found,) = read_manifests(STDIN)
    assert (str(found), found.place) == ("ConfigMap a", "standard input:1")


def test_files_are_those_with_objects_each_once(tmp_path: Path) -> None:
    for each in ("b.yaml", "sub/a.yml", ".draft.yaml", "kustomization.yaml", "notes.md"):
        (tmp_path / each).parent.mkdir(exist_ok=True)
        (tmp_path / each).touch()
    assert manifest_files([tmp_path, tmp_path / "b.yaml"]) == [tmp_path / "b.yaml", tmp_path / "sub/a.yml"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({"spec": {"n": 2}}, {"spec": {"n": 3}}, ["spec.n 2 → 3"]),
        ({"spec": {"n": 2}}, {"spec": {"m": True}}, ["spec.n is gone", "spec.m is true"]),
        ({"spec": {"l": [{"a": 1}]}}, {"spec": {"l": [{"a": 2}]}}, ["spec.l[0].a 1 → 2"]),
        ({"a": "x " * 40}, {"a": "y"}, ["a " + ("x " * 30) + "… → y"]),
        ({"kind": "Secret", "data": {"k": "old"}}, {"kind": "Secret", "data": {"k": "new"}}, ["data.k"]),
        ({"a": 1}, {"a": 1}, []),
    ],
)
def test_what_differs_is_told_by_field_and_no_secret_with_it(
    before: dict[str, object], after: dict[str, object], said: list[str]
) -> None:
    assert changes(Manifest(Path("a"), 1, before), Manifest(Path("a"), 1, after)) == said
