"""`windvane dev` while one works: what is saved takes effect, and what is wrong does no harm."""

import os
import signal
from collections.abc import AsyncIterator, Iterator

import pytest

from integration.dev.desk import API, DEPLOY, OPERATOR, READY, SAMPLE, Desk, Dev, Website, processes, wanted
from windvane import Client, dynamic
from windvane.api.custom_resources.crd import CustomResourceDefinition
from windvane.api.kind import Kind
from windvane.k8s.apps import Deployment
from windvane.k8s.core import Service

pytestmark = pytest.mark.xdist_group("windvane dev")
WEBSITE = Kind(group="example.com", version="v1alpha1", name="Website", plural="websites")


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("dev"))


@pytest.fixture(scope="module")
def dev(desk: Desk) -> Iterator[Dev]:
    """One that runs, with the sample ready."""
    with desk.run() as dev:
        dev.until("the operator works as ServiceAccount website-operator/website-operator, with the rights in deploy")
        dev.until("the CRD websites.example.com is installed")
        dev.until("samples/website.yaml: Website example is created")
        dev.until(READY)
        yield dev


@pytest.fixture(autouse=True)
def mark(dev: Dev) -> None:
    """A test reads what is said while it goes on."""
    dev.mark()


@pytest.fixture
async def client(dev: Dev) -> AsyncIterator[Client]:
    async with Client.connect(kubeconfig=dev.kubeconfig) as client:
        yield client


async def test_a_syntax_error_leaves_the_version_before_at_work(desk: Desk, dev: Dev, client: Client) -> None:
    content = desk.edit(OPERATOR, "ready = deployment.status", "ready = = deployment.status")
    line = content[: content.index("ready = deployment.status")].count("\n") + 1
    told = dev.until("SyntaxError")
    assert f"problem    {OPERATOR}:{line}: SyntaxError: invalid syntax; the version before goes on" in told
    dev.until("ready = = deployment.status")  # and the line itself
    await client.apply(wanted("while-broken"), force=True)
    dev.until("Website default/while-broken  Ready is True")
    dev.mark()
    desk.save(OPERATOR, content.replace("copies are ready", "copies are ready now"))
    dev.until("the operator is ready")
    dev.until("2 of 2 copies are ready now")
    dev.mark()
    desk.save(OPERATOR, content)
    dev.until("Website default/example  Ready is True (Ready): 2 of 2 copies are ready")


@pytest.mark.parametrize(
    ("line", "told"),
    [("import os; os._exit(7)", "importing it has ended the process (exit code 7)"), ("while True: pass", "was saved")],
)
def test_an_import_that_ends_the_process_or_never_ends_is_mended(desk: Desk, dev: Dev, line: str, told: str) -> None:
    content = desk.edit(OPERATOR, "\noperator = Operator(", f"\n{line}\noperator = Operator(")
    dev.until(told)
    dev.mark()
    desk.save(OPERATOR, content)
    dev.until("the operator is ready")


async def test_a_crd_changes_under_objects_that_are_there(desk: Desk, dev: Dev, client: Client) -> None:
    api, operator = (
        desk.edit(API, "    ready: int = 0\n", '    ready: int = 0\n    note: str = ""\n'),
        (desk.project / OPERATOR).read_text(),
    )
    told = dev.until("the CRD websites.example.com is changed")
    assert told.endswith("changed: status.note is new")
    dev.until("the operator is ready")
    dev.mark()
    desk.edit(API, 'Column("Up",', 'Column("Note", ".status.note"), Column("Up",')
    assert dev.until("the CRD websites.example.com is changed").endswith("changed: the column Note is new")
    dev.until("the operator is ready")
    dev.mark()
    desk.edit(
        OPERATOR, "    website.status.ready = ready\n", '    website.status.ready, website.status.note = ready, "x"\n'
    )
    dev.until("the operator is ready")
    dev.until("wrote apply websites.example.com/status example")
    there = await client.get(dynamic(WEBSITE), "example", namespace="default")
    assert there["status"]["note"] == "x"
    definition = await client.get(CustomResourceDefinition, "websites.example.com")
    columns = [each["name"] for each in definition["spec"]["versions"][0]["additionalPrinterColumns"]]
    assert "Note" in columns
    dev.mark()
    desk.save(API, api)
    desk.save(OPERATOR, operator)
    assert "status.note is gone, the column Note is gone" in dev.until("the CRD websites.example.com is changed")
    dev.until("the operator is ready")


async def test_a_sample_that_is_saved_is_applied_again(desk: Desk, dev: Dev, client: Client) -> None:
    sample = desk.edit(SAMPLE, "copies: 2", "copies: 3")
    assert dev.until(SAMPLE).endswith(f"{SAMPLE}: Website example is changed: spec.copies 2 → 3")
    dev.until("3 of 3 copies are ready")
    dev.mark()
    desk.edit(SAMPLE, "copies: 3", "copies: -3")
    told = dev.until("is refused")
    assert f"problem    {SAMPLE}:1: Website example is refused" in told
    assert "spec.copies" in told
    dev.mark()
    content = desk.edit(SAMPLE, "kind: Website", "kind: Webseit")
    dev.until("Webseit example is refused")
    dev.mark()
    desk.save(SAMPLE, content.replace("copies: -3", "copies: 3"))
    dev.until("Website example is as it was")
    dev.mark()
    (desk.project / SAMPLE).unlink()
    assert dev.until(SAMPLE).endswith("stays; to have it go: kubectl delete website example")
    never = [line for line in dev.lines if "Webseit example is not in it any more" in line]
    assert never == [], "it was never in the cluster, so nothing of it stays"
    assert (await client.get(Website, "example", namespace="default")).spec.copies == 3
    dev.mark()
    desk.save(SAMPLE, sample)
    dev.until("Ready is True (Ready): 2 of 2 copies are ready")


async def test_a_right_that_is_missing_is_told_with_the_rule(desk: Desk, dev: Dev, client: Client) -> None:
    services = '- apiGroups: [""]\n  resources: [services]\n  verbs: [get, list, watch, create, patch, delete]\n'
    deploy = desk.edit(DEPLOY, services, "")
    told = dev.until("no right to")
    verbs = "list, watch, get, create, patch, delete"
    assert told.partition("problem")[2].strip() == (
        f"no right to {verbs} services (owned by Website): a ClusterRole in deploy needs "
        f'- {{apiGroups: [""], resources: [services], verbs: [{verbs}]}}'
    )
    await client.delete(Service, "example", namespace="default")
    dev.until("forbidden")
    dev.mark()
    desk.save(DEPLOY, deploy)
    dev.until("the operator has all the rights that it declares")
    dev.until("wrote apply services example")


async def test_a_cluster_that_is_killed_comes_back_with_its_objects(dev: Dev, client: Client) -> None:
    await client.apply(wanted("survivor"), force=True)
    dev.until("Website default/survivor  Ready is True")
    dev.mark()
    os.kill(dev.cluster(), signal.SIGKILL)
    assert "the cluster has ended (killed by SIGKILL); it is started again" in dev.until("the cluster has ended")
    dev.until("the cluster is back")
    there = await client.get(Website, "survivor", namespace="default")  # by the same kubeconfig
    await client.delete(Deployment, "survivor", namespace="default")
    dev.until("Website default/survivor  because Deployment survivor")
    assert there.metadata.uid == (await client.get(Website, "survivor", namespace="default")).metadata.uid


async def test_an_operator_that_crashes_is_started_again_ever_later(desk: Desk, dev: Dev) -> None:
    bad = "\n\n@operator.lifespan\nasync def database(client):\n    raise RuntimeError('no database')\n    yield\n"
    content = (desk.project / OPERATOR).read_text()
    desk.save(OPERATOR, content + bad)
    first = dev.until("the operator has ended")
    assert "(exit code 1): the lifespan database failed to begin: RuntimeError: no database. " in first
    assert "again in 1 s" in first
    assert "the operator has ended (exit code 1)" in dev.until("again in 2 s")
    dev.mark()
    desk.save(OPERATOR, content)
    operator = dev.operator()
    dev.mark()
    os.kill(operator, signal.SIGKILL)
    dev.until("the operator has ended (killed by SIGKILL). It is started again in 1 s")
    dev.until("the operator is ready")


async def test_an_operator_whose_event_loop_is_blocked_is_told_with_its_line_and_replaced(desk: Desk, dev: Dev) -> None:
    content = desk.edit(OPERATOR, "    await ctx.prune()", "    while True:\n        pass\n    await ctx.prune()")
    assert "in a pass over " in dev.until("the event loop has been blocked")
    dev.until("website_operator/operator.py")  # by this code
    dev.mark()
    desk.save(OPERATOR, content)
    dev.until("the operator can't end, as its event loop is blocked, and is killed")
    dev.until("the operator is ready")


def test_a_log_that_can_not_be_written_holds_nothing_up(desk: Desk, dev: Dev) -> None:
    [log] = desk.home.glob("dev/*/operator.log")
    log.unlink()
    log.symlink_to("/dev/full")
    content = desk.edit(OPERATOR, "\noperator = Operator(", '\nprint("on a full disk")\noperator = Operator(')
    dev.until("printed    on a full disk")
    dev.until("the operator is ready")
    log.unlink()
    dev.mark()
    desk.save(OPERATOR, content)
    dev.until("the operator is ready")


def test_an_operator_that_does_not_get_ready_says_why(desk: Desk, dev: Dev) -> None:
    content = desk.edit(DEPLOY, "resources: [services]", "resources: [endpoints]")
    dev.until("no right to list, watch")
    desk.edit(OPERATOR, "copies are ready", "copies  are ready")
    told = dev.until("the operator is not ready: ")
    assert "problem" in told
    assert "services" in told
    desk.save(DEPLOY, content)
    dev.until("the operator is ready")


def test_ctrl_c_ends_the_operator_and_then_the_cluster(desk: Desk, dev: Dev) -> None:
    """The last one of this module, as it ends what all have used."""
    dev.signal(signal.SIGINT)
    code, said = dev.end()
    assert code == 0
    assert "stopping: the operator first, then the cluster" in said
    assert said.endswith("dev        stopped\n")
    assert processes(desk.home) == []
    assert list((desk.home / "clusters").iterdir()) == []
    log = (desk.home / "dev" / "dev-website-operator" / "operator.log").read_text()
    assert log.splitlines()[-1].endswith('"message": "website-operator has stopped"}')
