"""`windvane add`: what it adds, that it leaves alone what is there, and what it says if it can't."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from windvane.api.kind import Kind
from windvane.api.resource import object_from_wire
from windvane.cli import layout, main
from windvane.cli.add import additions, file_writer
from windvane.cli.add.imports import Import
from windvane.cli.add.subject import Subject, UnknownKind, find, foreign
from windvane.cli.layout import LONGEST, TAKEN
from windvane.cluster.apiserver.registry.kinds import watched_models
from windvane.runtime.context import Context
from windvane.runtime.operator import Operator
from windvane.testing import reconcile_once

RUFF = Path(sys.executable).with_name("ruff")
Files = dict[str, bytes]
ALL = [
    ["kind", "Backup"],
    ["webhook", "Website", "--validate", "--mutate"],
    ["version", "Website", "v1beta1"],
    ["controller", "Deployment"],
]


def forget() -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "website_operator"]:
        del sys.modules[name]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Path]:
    """What `windvane init website` has laid out, and where we are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert main(["init", "website"]) == 0
    monkeypatch.chdir(tmp_path / "website")
    capsys.readouterr()
    yield tmp_path / "website"
    forget()


def add(*arguments: str) -> int:
    forget()
    return main(["add", *arguments])


def files_of(project: Path) -> Files:
    return {
        str(each.relative_to(project)): each.read_bytes()
        for each in project.rglob("*")
        if each.is_file() and "__pycache__" not in each.parts
    }


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_files_are_added_and_lines_and_nothing_else(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    init = "src/website_operator/__init__.py"
    for arguments in ALL:
        before = files_of(project)
        assert add(*arguments) == 0
        after = files_of(project)
        said = capsys.readouterr()
        assert said.err == ""
        shown = said.out.partition("\n\n")[0].splitlines()
        assert set(after) - set(before) == {line for line in shown if ": " not in line}
        assert {path for path in before if before[path] != after[path]} == {init}
        new = [line for line in after[init].decode().splitlines() if line not in before[init].decode().splitlines()]
        assert [f"{init}: {line}" for line in sorted(new)] == sorted(line for line in shown if ": " in line)
        kept = [line for line in after[init].decode().splitlines() if line not in new]
        assert kept == before[init].decode().splitlines()


def test_the_order_does_not_matter(project: Path) -> None:
    laid_out = files_of(project)
    for arguments in ALL:
        assert add(*arguments) == 0
    there = files_of(project)
    for path in there:
        (project / path).unlink()
    for path, content in laid_out.items():
        (project / path).write_bytes(content)
    for arguments in reversed(ALL):
        assert add(*arguments) == 0
    assert files_of(project) == there


def test_what_to_do_next_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add("kind", "Job", "--version", "v1") == 0
    said = capsys.readouterr()
    commands = ["pytest", "windvane run --install-crds", "kubectl apply -f samples/job.yaml"]
    wanted = [*commands, "kubectl get jobs.example.com"]
    assert said.out.partition("Next:\n\n")[2] == "".join(f"  {command}\n" for command in wanted)
    assert said.err == "windvane: kubectl takes jobs for the built-in Job: write jobs.example.com for yours\n"


def test_the_manual_shows_what_is_printed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add("kind", "Backup") == 0
    manual = Path(__file__).parents[4] / "docs" / "init.md"
    assert f"$ windvane add kind Backup\n{capsys.readouterr().out}```" in manual.read_text()


def test_pods_that_are_not_told_of_their_service_are_a_hint(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(project / "deploy" / "operator.yaml", ", --webhook-service, website-operator-webhooks", "")
    assert add("webhook", "Website", "--mutate") == 0
    hint = "And put this into the args of its Deployment in deploy: --webhook-service, website-operator-webhooks\n"
    assert capsys.readouterr().out.endswith(hint)


def test_an_operator_that_is_named_by_its_file_is_in_a_package_as_well(project: Path) -> None:
    change(project / "pyproject.toml", "website_operator:operator", "src/website_operator/operator.py")
    assert add("kind", "Backup") == 0


def test_manifests_go_by_what_those_that_are_there_say(project: Path) -> None:
    manifest = project / "deploy" / "operator.yaml"
    change(
        manifest,
        "kind: ServiceAccount\nmetadata: {name: website-operator, namespace: website-operator}",
        "kind: ServiceAccount\nmetadata: {name: sites, namespace: web}",
    )
    change(
        manifest, "metadata: {labels: {app.kubernetes.io/name: website-operator}}", "metadata: {labels: {app: sites}}"
    )
    assert add("webhook", "Pod", "--validate") == 0
    wires = [
        each for path in (project / "deploy").glob("webhooks*.yaml") for each in yaml.safe_load_all(path.read_text())
    ]
    assert {each["spec"]["selector"]["app"] for each in wires if each["kind"] == "Service"} == {"sites"}
    subjects = [each["subjects"] for each in wires if each["kind"].endswith("Binding")]
    assert subjects == [[{"kind": "ServiceAccount", "name": "sites", "namespace": "web"}]] * 2


@pytest.mark.parametrize(
    ("header", "then"),
    [
        ("group='example.com', version='v1alpha1'", "group='example.com', version='v1alpha1', stored=False"),
        (
            "version='v1alpha1', stored=True, group='example.com'",
            "version='v1alpha1', stored=False, group='example.com'",
        ),
    ],
)
def test_the_version_that_is_stored_until_now_says_that_it_is_no_more(project: Path, header: str, then: str) -> None:
    api = project / "src" / "website_operator" / "api.py"
    source = api.read_text()
    one_line = re.sub(
        r"class Website\(.*?\n\):",
        f"class Website(Resource[WebsiteSpec, WebsiteStatus], {header}):",
        source,
        flags=re.DOTALL,
    )
    api.write_text(one_line.replace("\n", "\r\n"), newline="")
    assert add("version", "Website", "v1", "--storage") == 0
    assert api.read_bytes().decode().replace("\r\n", "\n") == one_line.replace(header, then)
    forget()
    from website_operator import operator  # type: ignore[import-not-found,unused-ignore]

    stored = {
        each.__kind__.version: each.__presentation__.stored
        for each in operator.kinds
        if each.__kind__.name == "Website"
    }
    assert stored == {"v1alpha1": False, "v1": True}


def test_a_sample_of_the_new_version_is_an_object_of_its_own(project: Path) -> None:
    assert add("version", "Website", "v1") == 0
    old, new = (yaml.safe_load((project / "samples" / f"website{end}.yaml").read_text()) for end in ("", "-v1"))
    assert new == {**old, "apiVersion": "example.com/v1", "metadata": {"name": "example-v1"}}


WRONG = {
    "kind backup": (2, "KIND 'backup' must be letters and digits, each word with a capital: write Backup"),
    "kind Back-Up": (2, "write BackUp"),
    "kind Spec": (2, "the kind can't be called Spec, a word that its module needs: write MySpec, for one"),
    "kind Backup --group db": (2, "--group 'db' must be a domain of yours, in small letters: write db.example.com"),
    "kind Backup --version 1": (2, "the version '1' must be like v1alpha1, v1beta1 or v1"),
    "kind Website": (
        1,
        "Website is there already, as class Website in src/website_operator/api.py, line 22; for another",
    ),
    "webhook Website": (2, "say what it is to do: --validate, --mutate, or both"),
    "webhook Websit --mutate": (
        2,
        "there is no kind Websit, neither of this operator nor built in: did you mean Website (",
    ),
    "webhook Event --mutate": (2, "Event can be several kinds: write events. or events.events.k8s.io"),
    "version Website beta": (2, "the version 'beta' must be like v1alpha1, v1beta1 or v1"),
    "version Website v1alpha1": (
        1,
        "Website has the version v1alpha1 already, as class Website in src/website_operator/",
    ),
    "version Pod v2": (2, "Pod is not a kind of this operator's own; there is: Website"),
    "controller Deploymnet": (2, "did you mean Deployment (deployments.apps)?"),
    "controller Certificate": (2, "nor built in; of another operator's, say --group and --version"),
    "controller Issuer --group cert-manager.io": (2, "say which version of Issuer it is to see, such as --version v1"),
    "controller issuer --group cert-manager.io --version v1": (2, "each word with a capital: write Issuer"),
    "controller Website": (1, "Website is this operator's own, class Website in src/website_operator/api.py, line 22"),
    "controller Website --group example.com --version v1": (1, "Website is this operator's own"),
}


@pytest.mark.parametrize(("line", "code", "words"), [(line, *answer) for line, answer in WRONG.items()], ids=WRONG)
def test_what_is_wrong_is_said_in_a_line_and_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str], line: str, code: int, words: str
) -> None:
    before = files_of(project)
    assert add(*line.split()) == code
    said = capsys.readouterr().err
    assert words in said
    assert said.startswith("windvane: ")
    assert said.count("\n") == 1
    assert files_of(project) == before


Edit = Callable[[Path], None]
INIT, API, OPERATOR = (f"src/website_operator/{name}.py" for name in ("__init__", "api", "operator"))
SAMPLE, LINE = "samples/website.yaml", "from website_operator import backup_controller as backup_controller"
MADE = 'operator = Operator("website-operator")'
IN_INIT = f"from windvane import Operator, Resource, Spec, Status\n{MADE}\nclass Website(Resource[Spec, Status], "
IN_INIT += "group='example.com', version='v1'):\n    pass\noperator.default(Website)(lambda site: None)\n"
JUDGE = "@operator.validate(Website)\ndef judge(it: Website) -> None: ...\n"
LOOK = "@operator.controller(apps.Deployment)\nasync def look(it: apps.Deployment, ctx: Context) -> None: ...\n"


def written(path: str, text: str) -> Edit:
    def do(project: Path) -> None:
        (project / path).write_text(text)

    return do


def removed(path: str) -> Edit:
    return lambda project: (project / path).unlink()


def replaced(path: str, old: str, new: str) -> Edit:
    return lambda project: change(project / path, old, new)


IN_THE_WAY: list[tuple[Edit, str, int, str]] = [
    (
        written("tests/test_backup.py", ""),
        "kind Backup",
        1,
        "tests/test_backup.py is there already, and is left as it is",
    ),
    (removed("pyproject.toml"), "kind Backup", 1, "there is no pyproject.toml in"),
    (
        replaced("pyproject.toml", "[tool.windvane]", "[tool.x]"),
        "kind Backup",
        2,
        "names no operator: write operator = ",
    ),
    (replaced(INIT, "from", "# from"), "kind Backup", 2, "has no 'operator'; there is no Operator in it"),
    (replaced("pyproject.toml", ":operator", ":op"), "kind Backup", 2, "has no 'op'; write website_operator:operator"),
    (written(API, "def f(:\n"), "kind Backup", 1, "website_operator can't be imported: SyntaxError"),
    (
        written(INIT, "import os; from website_operator.operator import operator\n"),
        *(
            "kind Backup",
            1,
            f"__init__.py: line 1 has several statements: run this with --no-import, and write `{LINE}` there",
        ),
    ),
    (
        written(INIT, IN_INIT),
        *(
            "kind Backup",
            1,
            "__init__.py: the operator is made there, and what needs it can only be imported below that",
        ),
    ),
    (
        removed(SAMPLE),
        *(
            "webhook Website --validate",
            1,
            "no file in samples has one Website of example.com/v1alpha1, and nothing else",
        ),
    ),
    (replaced(SAMPLE, "spec", "---\nspec"), "version Website v1", 1, f"which its test begins with: write {SAMPLE}"),
    (
        replaced(API, 'version="v1alpha1"', "**{'version': 'v1alpha1'}"),
        *(
            "version Website v1",
            1,
            "can't be copied: class Website does not say version= itself. docs/webhooks.md says how",
        ),
    ),
    (
        replaced(OPERATOR, MADE, f"{MADE}\n\n\n{JUDGE}"),
        *("webhook Website --validate", 1, "Website has such a function already, judge in website_operator.operator"),
    ),
    (
        replaced(OPERATOR, MADE, f"{MADE}\n\n\n{LOOK}"),
        *(
            "controller deploy",
            1,
            "Deployment has a controller already, look in website_operator.operator; for a second",
        ),
    ),
    (
        replaced(OPERATOR, MADE, 'globals()["operator"] = Operator("a")'),
        *("kind Backup", 1, 'no module of website_operator makes the operator: write operator = Operator("a") in one'),
    ),
]


@pytest.mark.parametrize(("edit", "line", "code", "words"), IN_THE_WAY, ids=[words[:40] for *_, words in IN_THE_WAY])
def test_what_is_in_the_way_is_said_in_a_line_and_nothing_is_written(
    project: Path, capsys: pytest.CaptureFixture[str], edit: Edit, line: str, code: int, words: str
) -> None:
    edit(project)
    before = files_of(project)
    assert add(*line.split()) == code
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert files_of(project) == before


def test_what_can_not_be_placed_its_author_writes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / INIT).write_text("import os; from website_operator.operator import operator\n")
    assert add("kind", "Backup", "--no-import") == 0
    assert capsys.readouterr().out.endswith(f"\nAnd write this where it is imported with the package: {LINE}\n")
    assert (project / INIT).read_text().count("\n") == 1
    change(project / INIT, "\n", f"; {LINE.partition(' import ')[0]} import backup_controller\n")
    assert add("webhook", "Backup", "--mutate", "--no-import") == 0


@pytest.mark.parametrize("fails", [1, 3, 5, 6])
def test_nothing_is_left_behind_when_writing_fails(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    before = files_of(project)
    left = iter(range(1, fails + 1))
    open_, replace = Path.open, Path.replace

    def counted(really: Callable[..., Any]) -> Callable[..., Any]:
        def do(path: Path, *arguments: Any, **more: Any) -> Any:
            if project in path.parents and (arguments[:1] == ("x",) or really is replace) and next(left, 0) == fails:
                raise OSError(28, "No space left on device", str(path))
            return really(path, *arguments, **more)

        return do

    monkeypatch.setattr(Path, "open", counted(open_))
    monkeypatch.setattr(Path, "replace", counted(replace))
    assert add("kind", "Backup") == 1
    assert re.search(
        r"^windvane: \S+ can't be written: No space left on device; nothing was added$", capsys.readouterr().err
    )
    assert files_of(project) == before


def test_directories_that_were_made_go_again(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("")
    with pytest.raises(FileExistsError):
        file_writer.write_all({tmp_path / "a" / "b" / "c": "", tmp_path / "there": ""}, {})
    assert [each.name for each in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("what", ["kind", "webhook", "version", "controller"])
def test_the_help_has_examples(capsys: pytest.CaptureFixture[str], what: str) -> None:
    with pytest.raises(SystemExit):
        main(["add", what, "--help"])
    assert f"  windvane add {what} " in capsys.readouterr().out


def watched() -> list[type[Any]]:
    return watched_models()


async def test_each_built_in_kind_can_be_found_and_its_example_is_taken() -> None:
    for what in watched():
        kind = what.__kind__
        subject = find(f"{kind.plural}.{kind.group}", [])
        assert subject.what is what
        operator = Operator("any")

        @operator.controller(what)
        async def reconcile(thing: Any, ctx: Context) -> None:
            """Does nothing: the object is what is tried."""

        once = await reconcile_once(operator, object_from_wire(yaml.safe_load(additions.example_of(subject)), what))
        assert (once.result, once.writes) == ("done", []), kind


@pytest.mark.parametrize(
    "text", ["Deployment", "deployment", "deployments", "deploy", "deployments.apps", "Deployment.apps"]
)
def test_a_kind_is_found_by_what_kubectl_takes(text: str) -> None:
    assert find(text, []).code == "apps.Deployment"


def test_no_kind_is_found_that_can_not_be_watched() -> None:
    with pytest.raises(UnknownKind):
        find("Binding", [])


def test_another_operators_kind_is_made_of_what_was_said() -> None:
    subject = foreign(Kind(group="cert-manager.io", version="v1", name="Issuer", plural="issuers", namespaced=False))
    words = 'group="cert-manager.io", version="v1", name="Issuer", plural="issuers", namespaced=False'
    assert subject.definition == f"Issuer = dynamic(Kind({words}))"


def test_words_that_templates_use_are_no_names_for_a_kind(project: Path) -> None:
    assert add("kind", "Region", "--cluster-scoped") == 0
    text = "".join(
        (project / "src" / "website_operator" / f"region_{name}.py").read_text() for name in ("api", "controller")
    )
    names = re.findall(r"\b[A-Z]\w+", " ".join(re.findall(r"^from \S+ import (.*)$", text, re.MULTILINE)))
    assert set(names) - {"Region"} <= TAKEN


def test_local_names_of_a_controller_are_no_names_for_an_object() -> None:
    subject = Subject(
        kind=Kind(group="", version="v1", name="MyRequest", plural=""), imports=[Import("a")], code="", annotation=""
    )
    assert subject.it == layout.PLAIN


def test_code_is_formatted_and_clean_whatever_the_names_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name, kind, other = "b" * LONGEST, "A" + "b" * (LONGEST - 1), "C" + "b" * (LONGEST - 1)
    group = f"{kind}.{kind}.com".lower()
    assert main(["init", name, "--kind", kind, "--group", group, "--directory", "new"]) == 0
    monkeypatch.chdir(tmp_path / "new")
    for line in (
        *(
            f"kind {other}",
            f"webhook {kind} --validate --mutate",
            f"version {kind} v1beta1",
            f"version {other} v1 --storage",
        ),
        *(
            "controller validatingadmissionpolicybindings",
            f"controller D{other[1:]} --group {group}.org --version v1alpha1",
        ),
        *("kind MyClass --cluster-scoped", "kind Q", "webhook Q --mutate"),
    ):
        for each in [each for each in sys.modules if each.startswith("bbb")]:
            del sys.modules[each]
        assert main(["add", *line.split()]) == 0
    for check in (["check"], ["format", "--check"]):
        done = subprocess.run([RUFF, *check, "--no-cache", "."], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
