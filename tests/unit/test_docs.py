"""The manual and the README: no link leads nowhere, each example has its page, and code in prose is code that runs."""

import ast
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from pathlib import Path

import pytest
import yaml

from windvane.cli import make_parser

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "bench/README.md")),
    *sorted(path for folder in ("docs", "operators") for path in (ROOT / folder).rglob("*.md")),
]
EXAMPLES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\[\]]*\]\(([^()\s]+)\)")


def prose(page: Path) -> str:
    """A page without its code."""
    return re.sub(r"`[^`\n]*`", "code", BLOCK.sub("", page.read_text()))


def anchors(page: Path) -> set[str]:
    """What a link into a page may name: its headings as GitHub spells them, in small letters, without punctuation."""
    headings = re.findall(r"^#+ (.+)$", BLOCK.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def python_blocks(page: Path) -> list[str]:
    return [code for language, code in BLOCK.findall(page.read_text()) if language == "python"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link}: there is no {target}"
        assert not anchor or anchor in anchors(target), f"{link}: {target.name} has {sorted(anchors(target))}"


def test_the_page_about_the_house_names_modules_that_are_there() -> None:
    page = BLOCK.sub("", (ROOT / "docs" / "architecture.md").read_text())
    paths = re.findall(r"`([a-z0-9_/]+(?:\.py|/))`", page)
    assert len(set(paths)) > 40
    for path in paths:
        places = [ROOT / "src" / "windvane" / path, ROOT / path]
        assert any(place.is_file() or (path.endswith("/") and place.is_dir()) for place in places), path


def test_links_are_seen() -> None:
    links = {link for page in PAGES for link in LINK.findall(prose(page))}
    assert {"../concepts.md#finalizer", "../README.md#a-cluster-for-the-examples", "docs/kinds.md"} <= links


def test_every_promise_of_the_contract_names_a_test_that_is_there() -> None:
    page = (ROOT / "docs" / "contract.md").read_text()
    promises = page.partition("## What windvane promises")[2].partition("## What you must")[0]
    sentences = [line for line in promises.splitlines() if line.startswith("- ")]
    assert len(sentences) > 20
    for sentence in sentences:
        check_tests_of(sentence)


def check_tests_of(sentence: str) -> None:
    """A sentence of a page in `docs` names its tests, and they are there."""
    tests = re.findall(r"\[`(test_\w+)`\]\(\.\./([\w/]+\.py)\)", sentence)
    assert tests, f"no test is named: {sentence}"
    for name, path in tests:
        assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text(), re.MULTILINE), f"{path}: no {name}"


NONE = "What there is none of"


def rows(page: Path) -> list[tuple[str, list[str]]]:
    """The rows of a page's tables, without those that name the columns: the section, and the cells."""
    found: list[tuple[str, list[str]]] = []
    section = ""
    lines = BLOCK.sub("", page.read_text()).splitlines()
    for line, following in pairwise([*lines, ""]):
        if line.startswith("## "):
            section = line.removeprefix("## ")
        if line.startswith("| ") and not following.startswith("|---"):
            found.append((section, [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]))
    return found


@pytest.mark.parametrize(("name", "fewest"), [("from-kopf", 120), ("from-kubebuilder", 100)])
def test_every_idiom_of_others_names_a_test_or_says_why_there_is_none(name: str, fewest: int) -> None:
    found = rows(ROOT / "docs" / f"{name}.md")
    assert len(found) > fewest
    for section, cells in found:
        if section == NONE:
            idiom, reason = cells
            assert len(reason.split()) >= 5, f"no reason is given: {idiom}"
        else:
            _idiom, ours, shown = cells
            assert ours, f"nothing is said of {cells[0]}"
            check_tests_of(shown)


def test_every_line_of_the_comparison_is_held_by_a_test_or_a_benchmark_and_says_where_it_is_from() -> None:
    page = ROOT / "docs" / "comparison.md"
    lines = {cells[0]: cells[1:] for section, cells in rows(page) if section != "Where it is from"}
    traced = {cells[0]: cells[1:] for section, cells in rows(page) if section == "Where it is from"}
    assert list(lines) == list(traced)
    for line, (ours, others) in traced.items():
        if "bench/" in ours:  # whose links are looked at above, as all are
            assert "[bench/" in ours, line
        else:
            check_tests_of(ours)
            sources = re.findall(r"\[([^\]]+)\]\(https://[^)]+\)", others)
            assert sources == ["kopf", "kubebuilder", "Operator SDK", "Metacontroller"], line


IDIOMS = {
    # The decorators, arguments, functions, settings and options of kopf 1.45; types of arguments are left out.
    "from-kopf": """
    on.create on.update on.resume on.delete on.field on.event on.startup on.cleanup on.login on.probe on.validate
    on.mutate kopf.daemon kopf.timer kopf.index kopf.subhandler kopf.register kopf.execute
    param= id= registry= timeout= retries= labels= errors= backoff= annotations when= value= field= category= old= new=
    operation= subresource= side_effects persistent ignore_failures initial_delay sharp optional= interval= idle=
    deleted= cancellation_timeout cancellation_polling cancellation_backoff
    kwargs retry started runtime param settings resource body spec meta status uid name namespace labels annotations
    logger patch memo indices indexes event reason old new diff stopped dryrun subresource warnings userinfo headers
    sslpeer
    TemporaryError PermanentError ErrorsMode HandlerTimeoutError HandlerRetriesError AdmissionError
    kopf.PRESENT kopf.ABSENT kopf.all_ any_ not_ none_ kopf.EVERYTHING
    kopf.adopt kopf.label kopf.harmonize_naming kopf.adjust_namespace append_owner_reference remove_owner_reference
    build_owner_reference kopf.event kopf.info kopf.warn kopf.exception
    kopf.operator kopf.run spawn_tasks run_tasks OperatorRegistry kopf.lifecycles kopf.configure KopfRunner
    login_via_pykube login_via_client login_with_kubeconfig login_with_service_account ConnectionInfo
    WebhookServer WebhookK3dServer WebhookMinikubeServer WebhookDockerDesktopServer WebhookNgrokTunnel
    WebhookAutoServer WebhookAutoTunnel
    progress_storage diffbase_storage consistency_timeout persistence.finalizer scanning trust_env
    posting.enabled posting.level posting.loggers ultimate_exiting_timeout worker_limit error_delays error_backoffs
    max_workers executor default_backoff admission.managed admission.server reconnect_backoff inactivity_timeout
    enforce_retry_after request_timeout peering.lifetime label_selectors field_selectors shard_selectors chunk_size
    initial_streaming logging_backoffs stopped.reason set_default_registry build_object_reference
    freeze resume login_via_async_client AiohttpSession LoginError
    --namespace --all-namespaces --standalone --peering --priority --dev --liveness --module --verbose --debug --quiet
    --log-format --log-prefix --log-refkey
    """,
    # What markers, controller-runtime and the scaffolding are called.
    "from-kubebuilder": """
    object:root validation:Minimum Maximum ExclusiveMinimum ExclusiveMaximum MultipleOf MinLength MaxLength Pattern
    Format Enum MinItems MaxItems UniqueItems items: MinProperties MaxProperties XValidation ExactlyOneOf AtMostOneOf
    AtLeastOneOf XIntOrString EmbeddedResource PreserveUnknownFields Schemaless validation:Type title example nullable
    +optional +required kubebuilder:default listType listMapKey mapType structType resource:scope shortName categories
    path= printcolumn subresource:status subresource:scale selectablefield storageversion unservedversion
    deprecatedversion metadata:labels kubebuilder:rbac mutating=true failurePolicy
    RequeueAfter Requeue: TerminalError IgnoreNotFound InNamespace MatchingLabels MatchingFields IndexField GetAPIReader
    Create Update Patch Apply Delete DeleteAllOf Status() SubResource DryRunAll IsConflict IsNotFound
    CreateOrUpdate CreateOrPatch OperationResult SetControllerReference AlreadyOwnedError Unstructured
    PartialObjectMetadata DeepCopy For( Owns( Watches( EnqueueRequestsFromMapFunc EnqueueRequestForOwner WithPredicates
    GenerationChangedPredicate WatchesRawSource WatchesMetadata OnlyMetadata Named( AddFinalizer RemoveFinalizer
    SetStatusCondition ObservedGeneration EventRecorder log.FromContext zap NewManager SetupSignalHandler
    LeaderElection LeaderElectionID LeaderElectionReleaseOnCancel DefaultNamespaces ByObject SyncPeriod
    MaxConcurrentReconciles RateLimiter ReconciliationTimeout UsePriorityQueue CacheSyncTimeout RecoverPanic mgr.Add
    AddHealthzCheck AddReadyzCheck MustRegister GracefulShutdownTimeout CustomDefaulter CustomValidator ValidateCreate
    ValidateUpdate ValidateDelete ErrorList Warnings RequestFromContext Hub ConvertTo ConvertFrom cert-manager envtest
    Eventually AddToScheme pprof cluster.New kustomize PROJECT init
    """,
}


@pytest.mark.parametrize("name", IDIOMS)
def test_no_idiom_of_others_is_forgotten(name: str) -> None:
    page = " ".join(cell for _, cells in rows(ROOT / "docs" / f"{name}.md") for cell in cells[:1])
    assert [each for each in IDIOMS[name].split() if each not in page] == []


@pytest.mark.parametrize("name", ["from_kopf", "from_kubebuilder"])
def test_every_test_of_an_idiom_is_named_by_its_page(name: str) -> None:
    tests = (ROOT / "tests" / "integration" / "runtime" / f"test_{name}.py").read_text()
    page = (ROOT / "docs" / f"{name.replace('_', '-')}.md").read_text()
    unnamed = [each for each in re.findall(r"^(?:async )?def (test_\w+)\(", tests, re.MULTILINE) if each not in page]
    assert unnamed == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_has_its_page(name: str) -> None:
    page = (ROOT / "docs" / "examples" / f"{name}.md").read_text()
    assert f"[examples/{name}.py](../../examples/{name}.py)" in page
    assert f"examples/{name}.py" in "".join(code for language, code in BLOCK.findall(page) if language == "console")
    assert f"(examples/{name}.md)" in (ROOT / "docs" / "README.md").read_text()


def test_every_page_has_its_example() -> None:
    assert sorted(path.stem for path in (ROOT / "docs" / "examples").glob("*.md")) == EXAMPLES


def test_the_readme_has_the_operator_of_thirty_lines_word_for_word() -> None:
    code = (ROOT / "examples" / "thirty_lines.py").read_text()
    assert code in python_blocks(ROOT / "README.md")
    assert len(code.splitlines()) <= 35


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_data_in_prose_can_be_read(page: Path) -> None:
    readers: dict[str, Callable[[str], object]] = {
        "yaml": lambda text: list(yaml.safe_load_all(text)),
        "json": json.loads,
        "toml": tomllib.loads,
    }
    for language, text in BLOCK.findall(page.read_text()):
        if read := readers.get(language):
            read(text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_prose_are_commands_of_windvane(page: Path) -> None:
    for language, text in BLOCK.findall(page.read_text()):
        whole = text.replace("\\\n", "")  # a line may go on in the next one
        typed = re.findall(r"^ *\$ (.*)$", whole, re.MULTILINE) if language == "console" else []
        for command in (each for line in typed for each in our_commands(line) if "--help" not in each):
            make_parser().parse_args(command)  # which exits if something in it is unknown


def our_commands(line: str) -> Iterator[list[str]]:
    """The arguments of each windvane in a line that is typed into a shell."""
    words = shlex.shlex(line, posix=True, punctuation_chars="();<>|&")
    words.whitespace_split = True
    for is_shells, group in groupby(words, key=lambda word: set(word) <= set("();<>|&")):
        command = list(group)
        if not is_shells and command[0].removeprefix(".venv/bin/").removeprefix("$") == "windvane":
            yield command[1:]


def test_commands_are_seen() -> None:
    line = "export KUBECONFIG=$(windvane cluster kubeconfig) && windvane run x:y | tail  # windvane nonsense"
    assert list(our_commands(line)) == [["cluster", "kubeconfig"], ["run", "x:y"]]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_in_prose_is_python_and_what_it_imports_is_there(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "examples")
    for code in python_blocks(page):
        tree = compile(code, str(page), "exec", flags=ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                exec(ast.unparse(node), {})
