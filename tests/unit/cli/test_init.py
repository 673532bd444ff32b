"""`windvane init`: names, what is laid out, and that nothing is touched or left behind."""

import ast
import keyword
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from windvane.cli import layout, main
from windvane.cli.layout import LONGEST, TAKEN, Names, kind_for, lay_out

ROOT = Path(__file__).parents[3]
RUFF = Path(sys.executable).with_name("ruff")
LONG = "A" + "b" * (LONGEST - 1)
OPERATORS = [
    ["website"],
    ["my-db", "--group", "db.example.org", "--kind", "Database"],
    ["gateways", "--kind", "HTTPRoute2"],
    ["a", "--kind", "MyClass"],
    ["kafka-operator", "--kind", "Deployment"],
    ["b" * LONGEST, "--kind", LONG, "--group", f"{LONG}.{LONG}.com".lower()],
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def laid_out(name: str = "website", group: str = "example.com", kind: str = "Website") -> dict[str, str]:
    return {str(path): text for path, text in lay_out(Names(name=name, group=group, kind=kind))}


def files_below(directory: Path) -> set[str]:
    return {str(each.relative_to(directory)) for each in directory.rglob("*") if each.is_file()}


def test_a_package_is_laid_out_and_the_next_steps_are_shown(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "website"]) == 0
    said = capsys.readouterr()
    assert files_below(here) == {line for line in said.out.splitlines() if line.startswith("website/")}
    assert [line.strip() for line in said.out.splitlines() if line.startswith("  ")] == [
        "cd website",
        "pip install -e '.[test]'",
        "pytest",
        "windvane dev      # the operator at work on a cluster of its own; what you save takes over",
    ]
    assert said.err == ""


def test_the_layout_is_that_of_the_etcd_operator() -> None:
    of_a_repository = {".gitignore", ".github/workflows/ci.yaml"}  # which operators/etcd is a directory of
    for path in set(laid_out("etcd", "etcd.windvane.dev", "EtcdCluster")) - of_a_repository:
        there = ROOT / "operators" / "etcd" / path
        assert there.exists() or (there.parent.name in ("tests", "samples") and there.parent.is_dir()), path


def test_what_the_etcd_operator_has_is_laid_out() -> None:
    etcd = ROOT / "operators" / "etcd"
    more = {"BACKUPS.md", "SECURITY.md", "versions.py"}  # pages and a table of its own
    there = {each.name for each in etcd.iterdir() if not each.name.startswith(".")}
    assert there - more == {path.split("/")[0] for path in laid_out()} - {".gitignore", ".github"}
    assert files_below(etcd / "deploy") == {"Dockerfile", "operator.yaml"}


def test_names_are_made_of_the_name() -> None:
    names = Names(name="my-db", group="example.com", kind=kind_for("my-db"))
    assert (names.operator, names.package, names.kind) == ("my-db-operator", "my_db_operator", "MyDb")
    assert names.crd == "mydbs.example.com"


def test_a_name_that_says_operator_says_it_once() -> None:
    names = Names(name="redis-operator", group="example.com", kind=kind_for("redis-operator"))
    assert (names.operator, names.package, names.kind) == ("redis-operator", "redis_operator", "Redis")


@pytest.mark.parametrize(
    ("kind", "it"),
    [
        ("Website", "website"),
        ("EtcdCluster", "cluster"),
        ("HTTPRoute2", "route2"),
        ("HTTP2Route", "route"),
        ("MyDB", "db"),
        ("Deployment", "obj"),  # a variable of its own
        ("MyClass", "obj"),  # a keyword
        ("PriceList", "obj"),  # built in
        ("PointXY", "xy"),
        ("PlanB", "obj"),
    ],
)
def test_an_object_is_called_by_the_last_word_of_its_kind(kind: str, it: str) -> None:
    assert Names(name="a", group="example.com", kind=kind).it == it


@pytest.mark.parametrize("arguments", OPERATORS, ids=lambda arguments: arguments[0][:10])
def test_code_is_formatted_and_clean_whatever_the_names_are(here: Path, arguments: list[str]) -> None:
    assert main(["init", *arguments, "--directory", "new"]) == 0
    for check in (["check"], ["format", "--check"]):
        done = subprocess.run([RUFF, *check, "--no-cache", "."], cwd="new", check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("group", ["example.com", "db.example.org"])
def test_the_operator_may_do_no_more_to_its_own_kind_than_look_and_write_the_status(group: str) -> None:
    role = next(
        each
        for each in yaml.safe_load_all(laid_out(group=group)["deploy/operator.yaml"])
        if each["kind"] == "ClusterRole"
    )
    verbs = {
        name: rule["verbs"] for rule in role["rules"] for name in rule["resources"] if rule["apiGroups"] == [group]
    }
    assert verbs == {"websites": ["list", "watch"], "websites/status": ["patch"], "websites/finalizers": ["update"]}


@pytest.mark.parametrize("path", [".github/workflows/ci.yaml", "samples/website.yaml", "deploy/operator.yaml"])
def test_manifests_are_yaml(path: str) -> None:
    assert list(yaml.safe_load_all(laid_out()[path]))


def test_what_modules_need_themselves_is_no_name_for_a_kind() -> None:
    of_windvane_add = {"MinProperties"}
    used: set[str] = set()
    for path, text in laid_out(kind="Thing").items():
        if path.startswith("src/"):
            for node in ast.parse(text).body:
                if isinstance(node, ast.ImportFrom):
                    used |= {each.asname or each.name for each in node.names}
                if isinstance(node, ast.Assign):
                    used |= {each.id for each in node.targets if isinstance(each, ast.Name)}
    used = {each for each in used - {"Thing"} if re.match("[A-Z]", each)}
    assert used | of_windvane_add == TAKEN - set(keyword.kwlist)


def test_local_names_of_the_controller_are_no_names_for_an_object() -> None:
    module = ast.parse(laid_out(kind="ATest")["src/website_operator/operator.py"])
    names = {node.id for node in ast.walk(module) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    names |= {each.arg for node in ast.walk(module) if isinstance(node, ast.arguments) for each in node.args} - {"test"}
    names |= {each.name for each in ast.walk(module) if isinstance(each, ast.alias)}
    assert {each for each in names if each.islower() and "_" not in each} <= layout.LOCALS


def test_no_file_names_the_host_of_a_registry() -> None:
    hosts = re.compile(r"\w+://|\b(docker|ghcr|quay|gcr)\.io\b|registry\.|pypi|github\.com")
    assert [(path, hosts.findall(text)) for path, text in laid_out().items() if hosts.search(text)] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["My_DB"], "NAME 'My_DB' must be small letters, digits and '-', beginning with a letter: write my-db"),
        (["3tier"], "NAME '3tier' must be small letters, digits and '-', beginning with a letter: write tier"),
        (["Ünder"], "write nder"),
        ([""], "write website"),
        (["a/b"], "NAME 'a/b' must not be a path; --directory says where the package is to be"),
        (["x" * 41], f"must have 40 characters at most: write {'x' * 40}"),
        (
            ["a", "--kind", "List"],
            "--kind 'List' can't be: kubectl takes it for a list of objects; write --kind MyList, for one",
        ),
        (["a", "--kind", "my-db"], "--kind 'my-db' must be letters and digits, each word with a capital: write MyDb"),
        (["a", "--kind", "website"], "write Website"),
        (["a", "--kind", "42"], "write Website"),
        (["a", "--kind", "X" * 41], f"must have 40 characters at most: write {'X' * 40}"),
        (["a", "--kind", "Spec"], "the kind can't be called Spec, a word that its module needs: write --kind MySpec"),
        (["status"], "the kind can't be called Status, a word that its module needs: write --kind MyStatus"),
        (["a", "--kind", "None"], "write --kind MyNone"),
        (["a", "--group", "db"], "--group 'db' must be a domain of yours, in small letters: write db.example.com"),
        (["a", "--group", "DB.Example.com"], "write db.example.com"),
        (["a", "--group", "a..b"], "write example.com"),
        (["a", "--group", "apps.k8s.io"], "k8s.io and kubernetes.io are Kubernetes' own; write a domain of yours"),
        (["a", "--group", ".".join(["a" * 60] * 4 + ["b" * 9])], "too long; write a shorter domain"),
    ],
    ids=lambda each: " ".join(each)[:20] if isinstance(each, list) else "",
)
def test_a_bad_name_is_answered_with_what_to_write(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert main(["init", *arguments]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.startswith("windvane: ")
    assert said.count("\n") == 1
    assert list(here.iterdir()) == []


def test_a_kind_that_kubectl_knows_already_is_warned_of(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    assert main(["init", "jobs", "--kind", "Job"]) == 0
    words = "windvane: kubectl takes jobs for the built-in Job: write jobs.example.com for yours\n"
    assert capsys.readouterr().err == words
    assert "kubectl get jobs.example.com," in (here / "jobs" / "README.md").read_text()


def test_a_directory_with_files_in_it_is_left_as_it_is(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "website").mkdir()
    (here / "website" / "mine").write_text("mine")
    assert main(["init", "website"]) == 1
    assert capsys.readouterr().err == (
        "windvane: website is not empty, and is left as it is: write --directory DIR for another place\n"
    )
    assert files_below(here) == {"website/mine"}


def test_a_file_in_its_place_is_left_as_it_is(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "website").write_text("mine")
    assert main(["init", "website"]) == 1
    assert "website is there, and is no directory" in capsys.readouterr().err


def test_a_directory_to_put_it_into_must_be_there(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "website", "--directory", "a b/c/d"]) == 1
    assert f"mkdir -p '{here}/a b/c'" in capsys.readouterr().err


def test_an_empty_directory_is_filled_and_stays_the_same_one(here: Path) -> None:
    before = here.stat().st_ino
    assert main(["init", "website", "--directory", "."]) == 0
    assert here.stat().st_ino == before  # the shell is in it
    assert files_below(here) == set(laid_out())


@pytest.mark.parametrize("directory", ["website", "."])
@pytest.mark.parametrize("fails", ["mkdir", "write_text", "rename"])
def test_nothing_is_left_behind_when_it_fails(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, directory: str, fails: str
) -> None:
    really = getattr(Path, fails)
    left = iter([True] * (0 if directory == "website" and fails == "rename" else 2))

    def fail_the_third_time(path: Path, *arguments: Any, **more: Any) -> Any:
        if next(left, False):
            return really(path, *arguments, **more)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, fails, fail_the_third_time)
    assert main(["init", "website", "--directory", directory]) == 1
    assert capsys.readouterr().err == f"windvane: {directory} can't be written: No space left on device\n"
    assert list(here.iterdir()) == []


def test_the_help_shows_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["init", "--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "windvane init my-db --group db.example.org --kind Database" in said
    assert "default: example.com" in said


def test_the_manual_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "website"]) == 0
    assert f"$ windvane init website\n{capsys.readouterr().out}```" in (ROOT / "docs" / "init.md").read_text()
