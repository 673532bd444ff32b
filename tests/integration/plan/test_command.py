"""`windvane plan` as users run it, on a server that is a process of its own, over HTTPS."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.server_process import Command
from windvane import Client, ObjectMeta, Resource, Spec, Status
from windvane.cli import main
from windvane.k8s.core import ConfigMap, Namespace
from windvane.k8s.rbac import PolicyRule, Role, RoleBinding, RoleRef, Subject
from windvane.runtime.crds import install_crds

EXAMPLE = Path(__file__).parents[3] / "examples" / "website_operator.py"


class SiteSpec(Spec):
    copies: int = 1


class Site(Resource[SiteSpec, Status], group="plan.windvane.dev", version="v1"):
    """What the operators of these tests are for."""


OPERATOR = """
import aiohttp
from windvane import Context, ObjectMeta, Operator, Resource, Spec, Status
from windvane.k8s import core


class SiteSpec(Spec):
    {}


class Site(Resource[SiteSpec, Status], group="plan.windvane.dev", version="v1"):
    "What the operators of these tests are for."


operator = Operator("sites")


@operator.controller(Site, owns=[core.ConfigMap])
async def reconcile(site: Site, ctx: Context) -> None:
    {}
    await ctx.apply(core.ConfigMap(metadata=ObjectMeta(name=site.metadata.name), data={{"c": str(site.spec.copies)}}))
"""
SITE: dict[str, Any] = {"apiVersion": "plan.windvane.dev/v1", "kind": "Site", "metadata": {"name": "a"}}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The directory of a cluster without controllers, which has Sites: what writes to it is the test."""
    data = tmp_path_factory.mktemp("cluster")
    with Command.open() as command:
        command.start(data)
        asyncio.run(_install(data / "kubeconfig"))
        yield data


async def _install(kubeconfig: Path) -> None:
    async with Client.connect(kubeconfig=kubeconfig) as admin:
        await install_crds(admin, [Site])


@pytest.fixture
def run(
    server: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Runs `windvane plan` in a directory with a module; gives its exit code, and what it said and complained of."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(server / "kubeconfig"))
    monkeypatch.setattr(sys, "path", [*sys.path])

    def run(*arguments: str, first: str = "", kinds: str = "copies: int = 1", file: Any = SITE) -> tuple[int, str, str]:
        sys.modules.pop("sites", None)
        Path("sites.py").write_text(OPERATOR.format(kinds, first))
        Path("site.yaml").write_text(file if isinstance(file, str) else yaml.safe_dump(file))
        code = main(["plan", *arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    yield run
    sys.modules.pop("sites", None)


def version(server: Path) -> str:
    """The number of the last write that the server has seen."""

    async def look() -> str:
        async with Client.connect(kubeconfig=server / "kubeconfig") as admin:
            async for page in admin.list(ConfigMap).pages():
                return page.resource_version
        raise AssertionError

    return asyncio.run(look())


@pytest.mark.usefixtures("run")
def test_a_pass_that_never_awaits_is_told_with_its_line_and_ends_at_ctrl_c() -> None:
    Path("sites.py").write_text(OPERATOR.format("copies: int = 1", "while True: pass"))
    Path("site.yaml").write_text(yaml.safe_dump(SITE))
    command = [sys.executable, "-m", "windvane.cli", "plan", "sites", "-f", "site.yaml"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = next((line for line in process.stderr if "blocked" in line), "nothing")
        assert "in a pass over default/a (sites.plan.windvane.dev), by the code below" in told
        assert any("while True: pass" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
        assert "Traceback" not in process.stderr.read()


@pytest.mark.usefixtures("run")
def test_what_is_logged_with_v_has_no_secret_in_it_either() -> None:
    lifespan = (
        "@operator.lifespan\nasync def pool(client):\n    raise OSError('postgres://me:hunter2@db')\n    yield 1\n"
    )
    Path("sites.py").write_text(f"{OPERATOR.format('copies: int = 1', 'pass')}\n\n{lifespan}")
    command = [sys.executable, "-m", "windvane.cli", "plan", "sites", "--all", "-v"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "the lifespan pool failed to begin: OSError: postgres://«removed»@db" in ended.stderr
    assert "hunter2" not in ended.stdout + ended.stderr


def test_a_plan_in_words_and_as_json_and_the_server_has_seen_no_write(run: Run, server: Path) -> None:
    before = version(server)
    code, words, problem = run("sites", "-f", "site.yaml")
    assert (code, problem) == (10, "")
    assert '  + ConfigMap default/a  (of Site a; written by sites)\n      data.c: "1"\n' in words
    assert words.endswith("Plan: 2 to create, 0 to change, 0 to delete. Nothing was written.\n")
    assert "\x1b" not in words
    code, said, _ = run("sites", "-f", "site.yaml", "-o", "json")
    document = json.loads(said)
    assert [(each["action"], each["kind"]) for each in document["changes"]] == [
        ("create", "ConfigMap"),
        ("change", "Site"),
    ]
    _, coloured, _ = run("sites", "-f", "site.yaml", "--color", "always")
    assert "\x1b[1;32m+ ConfigMap default/a\x1b[0m" in coloured
    assert version(server) == before


def test_what_the_authors_code_prints_is_not_in_the_plan(run: Run) -> None:
    aloud = "print('in a pass')\n\n\nprint('in the module')"
    aloud += "\n\n\nasync def unused(site: Site, ctx: Context) -> None:\n    pass"
    code, said, aside = run("sites", "-f", "site.yaml", "-o", "json", first=aloud)
    assert (code, json.loads(said)["operator"]) == (10, "sites")
    assert aside.splitlines()[:2] == ["in the module", "in a pass"]


def test_a_project_names_its_operator(run: Run, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.windvane]\noperator = "sites:operator"\n')
    assert run("-f", "site.yaml")[0] == 10
    assert run("--all")[:2] == (0, "Nothing is to be done.\n")


def test_crds_are_planned_if_they_are_to_be_installed(run: Run) -> None:
    code, words, _ = run(str(EXAMPLE), "--all", "--install-crds")
    assert code == 10
    assert "+ CustomResourceDefinition websites.demo.windvane.dev" in words


@pytest.mark.parametrize(
    ("first", "code", "words"),
    [
        ("await aiohttp.ClientSession().get('http://127.0.0.1:9')", 11, "connect to 127.0.0.1:9 (sites.py line 20)"),
        ("await aiohttp.ClientSession().get('http://db.example.org')", 11, "look up db.example.org (sites.py line 20)"),
        ("__import__('subprocess').run(['id', '--secret'])", 11, "run id (sites.py line 20)"),
        ("ctx.outside('adding a member')", 11, "would change what is outside: adding a member (sites.py line 20)"),
        (
            "raise LookupError('no such shelf')",
            1,
            "Site default/a fails: LookupError: no such shelf (sites.py line 20)",
        ),
        ("ctx.wait('the shelf is built', after=5)", 10, "Site default/a then waits: the shelf is built. It looks"),
    ],
)
@pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_how_a_plan_ends(run: Run, first: str, code: int, words: str) -> None:
    ended, said, problem = run("sites", "-f", "site.yaml", first=first)
    assert words in said
    assert (ended, problem) == (code, "")


def test_what_can_be_no_namespace_is_no_plan_of_nothing(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        run("sites", "--all", "-n", "Shop_1")
    assert "'Shop_1' can't be a namespace: " in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["-v"], ["-o", "json"]])
@pytest.mark.parametrize(
    "first",
    [
        "raise LookupError('refused: postgres://me:hunter2@db')",
        "ctx.event('Asked', 'with password=hunter2')",
        "ctx.ready(False, 'token: hunter2')",
        "ctx.wait('postgres://me:hunter2@db', after=5)",
        "raise __import__('windvane').Fatal('password=hunter2')",
        "ctx.outside('CREATE ROLE a PASSWORD=hunter2')",
    ],
)
def test_what_looks_like_a_secret_is_in_nothing_that_a_pass_says(run: Run, arguments: list[str], first: str) -> None:
    _, said, problem = run("sites", "-f", "site.yaml", *arguments, first=first)
    assert "«removed»" in said
    assert "hunter2" not in said + problem


def test_a_secret_of_a_lifespan_that_fails_is_not_told(run: Run) -> None:
    lifespan = (
        "\n\n@operator.lifespan\nasync def pool(client):\n    raise OSError('postgres://me:hunter2@db')\n    yield 1"
    )
    code, said, problem = run("sites", "--all", first=f"pass{lifespan}\n\n\nasync def unused(site, ctx):\n    pass")
    assert (code, "postgres://«removed»@db" in problem, "hunter2" in said + problem) == (1, True, False)


def test_what_fails_has_a_traceback_if_asked(run: Run) -> None:
    _, _, quiet = run("sites", "-f", "site.yaml", first="raise LookupError('no such shelf')")
    _, _, loud = run("sites", "-f", "site.yaml", "-v", first="raise LookupError('no such shelf')")
    assert "Traceback" not in quiet
    assert loud.rstrip().endswith("LookupError: no such shelf")


@pytest.mark.parametrize(
    ("arguments", "file", "code", "words"),
    [
        (["sites"], SITE, 2, "say what is planned: -f FILE, KIND/NAME, or --all"),
        (["--all"], SITE, 2, "there is no pyproject.toml in "),
        (["sites", "others", "--all"], SITE, 2, "sites and others can't both be the operator: objects are written KI"),
        (["nothing", "--all"], SITE, 2, "there is no module 'nothing', "),
        (["sites:nothing", "--all"], SITE, 2, "has no 'nothing'; write sites:operator"),
        (["sites", "site/"], SITE, 1, "'site/' names no object: write KIND/NAME, or --all"),
        (["sites", "pods/a"], SITE, 1, "sites has no controller of 'pods'; it has those of: Site"),
        (["sites", "site/a"], SITE, 1, "there is no Site default/a. One that is to be made is planned with -f FILE"),
        (["sites", "-f", "none.yaml"], SITE, 2, "none.yaml is not there"),
        (["sites", "-f", "site.yaml"], "a: [", 2, "site.yaml:1: expected the node content"),
        (["sites", "-f", "site.yaml"], "", 2, "there is no object in site.yaml"),
        (["sites", "-f", "site.yaml"], {"kind": "Site"}, 2, "site.yaml:1: this is no object: it needs apiVersion"),
        (["sites", "-f", "site.yaml"], "- a", 2, "site.yaml:1: this is no object: it needs apiVersion"),
        (
            ["sites", "-f", "site.yaml"],
            {**SITE, "spec": {"copies": "x"}},
            1,
            "Site default/a would be refused: ",
        ),
        (["sites", "-f", "site.yaml"], {**SITE, "kind": "Cite"}, 1, "the cluster has no Cite of plan.windvane.dev/v1"),
        ([str(EXAMPLE), "--all"], SITE, 1, "the cluster has no websites.demo.windvane.dev. Install its CRD ("),
        (["sites", "--all", "--context", "x"], SITE, 1, 'No context "x" in '),
        (["sites", "--all", "--kubeconfig", "x"], SITE, 1, "There is no kubeconfig at "),
    ],
)
def test_what_is_wrong_is_said_in_a_line(run: Run, arguments: list[str], file: Any, code: int, words: str) -> None:
    ended, said, problem = run(*arguments, file=file)
    assert words in problem
    assert problem.startswith("windvane: ")
    assert (ended, said, problem.count("\n")) == (code, "", 1)


def test_a_class_that_is_not_as_the_crd_says_is_noted(run: Run) -> None:
    code, words, _ = run("sites", "--all", kinds="copies: int = 2")
    assert code == 0
    assert (
        "sites.plan.windvane.dev differs from the class at spec.versions[0].schema.openAPIV3Schema.properties.spec"
        in words
    )
    assert "with --install-crds by the class's" in words


def test_a_server_that_is_not_there(run: Run, server: Path, tmp_path: Path) -> None:
    config = yaml.safe_load((server / "kubeconfig").read_text())
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (tmp_path / "down").write_text(yaml.safe_dump(config))
    code, _, problem = run("sites", "--all", "--kubeconfig", "down")
    assert code == 1
    assert "can't be reached: Connection refused. Is it running?" in problem


def test_who_may_not_read_is_told_what_to_grant_and_may_plan_where_it_may(run: Run, server: Path) -> None:
    config = yaml.safe_load((server / "kubeconfig").read_text())
    config["users"][0]["user"]["as"] = "system:serviceaccount:shop:planner"
    Path("weak").write_text(yaml.safe_dump(config))
    code, _, problem = run("sites", "--all", "--kubeconfig", "weak")
    assert code == 1
    assert "cannot list resource" in problem
    assert problem.endswith("Grant the verbs list and watch on sites.plan.windvane.dev to the operator\n")
    asyncio.run(_grant(server / "kubeconfig"))
    shop = {**SITE, "metadata": {"name": "a", "namespace": "shop"}}
    code, words, _ = run("sites", "-f", "site.yaml", "-n", "shop", "--kubeconfig", "weak", file=shop)
    assert code == 10
    assert "+ ConfigMap shop/a" in words
    assert "the plan takes the class for the CRD: customresourcedefinitions" in words
    assert "the plan does without: namespaces" in words


def test_a_namespace_of_what_is_in_none_is_left_out_as_kubectl_does(run: Run) -> None:
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
    code, words, problem = run(
        "sites", "-f", "site.yaml", file={**role, "metadata": {"name": "reader", "namespace": "default"}}
    )
    assert (code, problem) == (10, "")
    assert "  + ClusterRole reader" in words


async def _grant(kubeconfig: Path) -> None:
    """Have the planner read Sites and ConfigMaps in one namespace, and nothing else."""
    read = ["get", "list", "watch"]
    rules = [
        PolicyRule(api_groups=["plan.windvane.dev"], resources=["sites"], verbs=read),
        PolicyRule(api_groups=[""], resources=["configmaps"], verbs=read),
    ]
    planner = [Subject(kind="ServiceAccount", name="planner", namespace="shop")]
    group = "rbac.authorization.k8s.io"
    here = ObjectMeta(name="planner", namespace="shop")
    async with Client.connect(kubeconfig=kubeconfig) as admin:
        for each in (
            Namespace(metadata=ObjectMeta(name="shop")),
            Role(metadata=here, rules=rules),
            RoleBinding(
                metadata=here, role_ref=RoleRef(api_group=group, kind="Role", name="planner"), subjects=planner
            ),
        ):
            await admin.apply(each)
