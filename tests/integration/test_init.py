"""What `windvane init` lays out, from a wheel in an environment of its own: its checks, its README, and its rights."""

import asyncio
import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from asyncio.subprocess import STDOUT
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from reference.controlplane import Programs
from windvane import ambient

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
OPERATORS = {
    "website": [],
    "my-db": ["--group", "db.example.org", "--kind", "Database"],
    "gateways": ["--kind", "HTTPRoute2"],
    "load": ["--kind", "TestRun"],  # which pytest must not take for tests
    "kafka-operator": ["--kind", "Deployment"],  # which kubectl takes for the built-in one
}
NEVER_ASKED_FOR = {"websites/finalizers.example.com", "backups/finalizers.example.com"}
"""Rights that admission looks at on some clusters, without a request of their own."""


def pip(environment: Path, *arguments: str | Path) -> None:
    """Install something without a network."""
    command = f"{sys.executable} -m pip --python {environment}/bin/python install --quiet --no-deps --no-index"
    subprocess.run([*command.split(), "--no-build-isolation", *arguments], check=True)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel of windvane. All else that it needs is that of the tests."""
    place = tmp_path_factory.mktemp("init")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place], cwd=ROOT, check=True)
    environment = place / "env"
    venv.create(environment)
    pip(environment, *place.glob("*.whl"))
    [packages] = environment.glob("lib/python*/site-packages")
    (packages / "tests.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment


@pytest.fixture
def variables(environment: Path, tmp_path: Path) -> dict[str, str]:
    """The environment variables of a user's shell."""
    path = [environment / "bin", Path(sys.executable).parent, os.environ["PATH"]]
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "WINDVANE"))}
    return {**kept, "PATH": os.pathsep.join(map(str, path)), "WINDVANE_HOME": str(tmp_path / "home")}


@pytest.fixture
def init(environment: Path, variables: dict[str, str], tmp_path: Path) -> Callable[[str], Path]:
    """Lays out an operator and installs it; returns where it is."""

    def do(name: str) -> Path:
        windvane = environment / "bin" / "windvane"
        subprocess.run([windvane, "init", name, *OPERATORS[name]], cwd=tmp_path, env=variables, check=True)
        pip(environment, "--editable", tmp_path / name)
        return tmp_path / name

    return do


def commands(project: Path, heading: str) -> list[str]:
    """Each block of commands in a section of its README."""
    _, _, rest = (project / "README.md").read_text().partition(f"\n## {heading}\n")
    section = rest.partition("\n## ")[0]
    blocks = re.findall(r"^```console\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return ["\n".join(line.removeprefix("$ ") for line in block.splitlines()) for block in blocks]


@pytest.mark.parametrize("name", OPERATORS)
def test_its_own_checks_pass(init: Callable[[str], Path], variables: dict[str, str], name: str) -> None:
    project = init(name)
    [block] = commands(project, "Test it")
    install, tests, checks = block.splitlines()
    assert install == "pip install -e '.[test]'"  # done by `init`, without a network
    for command in (tests.replace("pytest", "python -m pytest"), checks.replace("mypy", "python -m mypy")):
        done = subprocess.run(command, shell=True, check=False, cwd=project, env=variables, capture_output=True)
        assert done.returncode == 0, (done.stdout + done.stderr).decode()


@asynccontextmanager
async def program(command: str, project: Path, variables: dict[str, str]) -> AsyncIterator[asyncio.subprocess.Process]:
    """A command that goes on until the end of the block."""
    process = await asyncio.create_subprocess_shell(f"exec {command}", cwd=project, env=variables)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def shell(script: str, project: Path, variables: dict[str, str]) -> str:
    """What commands print that are typed one after the other. None of them may fail."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "-e", "-c", script), cwd=project, env=variables, stdout=asyncio.subprocess.PIPE, stderr=STDOUT
    )
    said = (await process.communicate())[0].decode()
    assert process.returncode == 0, said
    return said


async def until(so: Callable[[], Awaitable[bool]], what: str) -> None:
    deadline = ambient.monotonic() + PATIENCE
    while not await so():
        assert ambient.monotonic() < deadline, f"not so: {what}"
        await ambient.sleep(0.2)


@pytest.fixture
def with_kubectl(variables: dict[str, str]) -> dict[str, str]:
    return {**variables, "PATH": f"{Programs.find().directory}{os.pathsep}{variables['PATH']}"}


@pytest.fixture
async def cluster(variables: dict[str, str], tmp_path: Path) -> AsyncIterator[Path]:
    """The cluster of the README, with an audit log; its kubeconfig."""
    log = tmp_path / "audit.log"
    await shell(f"windvane cluster start --detach --audit-log {log}", tmp_path, variables)
    try:
        yield Path((await shell("windvane cluster kubeconfig", tmp_path, variables)).strip())
    finally:
        await shell("windvane cluster stop", tmp_path, variables)


@pytest.mark.reference
@pytest.mark.parametrize("name", ["website", "kafka-operator"])
async def test_what_the_readme_says_of_running_it_works_as_it_stands(
    init: Callable[[str], Path], with_kubectl: dict[str, str], cluster: Path, name: str
) -> None:
    project = init(name)
    first, second = commands(project, "Run it")
    start, export, run = first.splitlines()
    assert start == "windvane cluster start --detach"
    assert export in second
    # Other tests may have the port 8080.
    with_kubeconfig = {**with_kubectl, "KUBECONFIG": str(cluster), "WINDVANE_METRICS_PORT": "0"}
    async with program(run, project, with_kubeconfig):
        [crd] = re.findall(r"apply (\S+)/status", next((project / "tests").glob("*.py")).read_text())

        async def served() -> bool:
            return crd in await shell("kubectl get crds -o name", project, with_kubeconfig)

        await until(served, "the operator has installed its CRD")
        said = await shell(second, project, with_kubectl)
        assert "The container image that runs." in said
        assert re.search(r"^deployment\.apps/example +2/2", said, re.MULTILINE)
        assert re.search(r"^service/example ", said, re.MULTILINE)

        async def cleared() -> bool:
            return "example" not in await shell("kubectl get deployments.apps,services", project, with_kubeconfig)

        await until(cleared, "what belongs to it has gone, too")


def requests(audit: Path, account: str) -> Iterator[tuple[str, str, int]]:
    """What an account asked for: the verb, the resource with its group, and the answer's code."""
    for line in audit.read_text().splitlines():
        event: dict[str, Any] = json.loads(line)
        about = event.get("objectRef")
        if about and event["user"]["username"] == account and event["stage"] != "RequestReceived":
            resource = "/".join(filter(None, (about["resource"], about.get("subresource"))))
            yield event["verb"], f"{resource}.{about.get('apiGroup', '')}", event["responseStatus"]["code"]


LIVE = """
kubectl apply -f samples/website.yaml
kubectl wait --for=condition=Ready websites/example --timeout=60s
kubectl delete deployments.apps example
kubectl patch websites example --type=merge -p '{"spec": {"port": null, "copies": 3}}'
kubectl wait --for=delete services/example --timeout=60s
kubectl wait --for=jsonpath='{.status.ready}'=3 websites/example --timeout=60s
"""
END = "kubectl delete -f samples/website.yaml"
ADDED = {
    "kind Backup": """
kubectl apply -f samples/backup.yaml
kubectl wait --for=condition=Ready backups/example --timeout=60s
kubectl patch backups example --type=merge -p '{"spec": {"settings": {"colour": "blue"}}}'
kubectl wait --for=jsonpath='{.data.colour}'=blue configmaps/example-backup --timeout=60s
kubectl delete configmap example-backup
kubectl wait --for=create configmaps/example-backup --timeout=60s
""",
    "webhook Website --validate --mutate": """
kubectl get websites example -o jsonpath='{.metadata.annotations}' | grep made-by
kubectl annotate websites example example.com/keep=true
if kubectl delete websites example; then exit 1; fi
kubectl annotate websites example example.com/keep-
""",
    "version Website v1beta1": """
kubectl get websites.v1beta1.example.com example -o jsonpath='{.apiVersion} {.spec.image}' | grep 'v1beta1 nginx:1.29'
kubectl apply -f samples/website-v1beta1.yaml
kubectl wait --for=condition=Ready websites/example-v1beta1 --timeout=60s
""",
    "controller Deployment": r"""
kubectl create deployment web --image=nginx
kubectl label deployments.apps web example.com/describe=true
kubectl wait deployments.apps/web --timeout=60s \
  --for=jsonpath='{.metadata.annotations.example\.com/labels}'=app,example.com/describe
kubectl delete deployments.apps web
""",
}
"""What shows that it works, when it is deployed with what came of it."""


@pytest.mark.reference
@pytest.mark.parametrize("added", [{}, ADDED], ids=["as laid out", "with all that can be added"])
async def test_it_works_as_it_is_deployed_with_the_rights_that_it_has_there(
    environment: Path,
    init: Callable[[str], Path],
    with_kubectl: dict[str, str],
    cluster: Path,
    tmp_path: Path,
    added: dict[str, str],
) -> None:
    project = init("website")
    variables = {**with_kubectl, "KUBECONFIG": str(cluster)}
    for each in added:
        await shell(f"windvane add {each}", project, variables)
    # Its pods share this machine's network: each has an address of its own for its ports.
    hosts = "--metrics-host '$(WINDVANE_POD_IP)' --webhook-host '$(WINDVANE_POD_IP)'"
    stands_for = f"{environment}/bin/windvane run website_operator:operator {hosts}"
    await shell(f"windvane image add REGISTRY/website-operator:0.1 -- {stands_for}", project, variables)
    deploy = project / "deploy"
    manifest = (deploy / "operator.yaml").read_text()
    wires = [each for path in deploy.glob("*.yaml") for each in yaml.safe_load_all(path.read_text())]
    # The directories of a test are closed to all users but its own.
    mine = manifest.replace("runAsUser: 65532", f"runAsUser: {os.getuid()}").replace("runAsNonRoot: true", "")
    (deploy / "operator.yaml").write_text(mine)
    await shell("kubectl apply -f deploy", project, variables)  # as README.md says
    await shell(
        "kubectl -n website-operator rollout status deployment website-operator --timeout=60s", project, variables
    )
    (deploy / "operator.yaml").write_text(manifest)
    said = await shell("kubectl apply --dry-run=server -f deploy -f samples", project, variables)
    assert said.count("(server dry run)") == len(wires) + len(list((project / "samples").iterdir()))
    await shell("\n".join([LIVE, *added.values(), END]), project, variables)
    asked = set(requests(tmp_path / "audit.log", "system:serviceaccount:website-operator:website-operator"))
    assert {(verb, resource) for verb, resource, code in asked if code == 403} == set()
    rules = [rule for wire in wires for rule in wire.get("rules", ())]
    allowed = {f"{resource}.{rule['apiGroups'][0]}" for rule in rules for resource in rule["resources"]}
    assert allowed - {resource for _, resource, _ in asked} == NEVER_ASKED_FOR & allowed
    [doctor] = re.findall("^windvane doctor.*$", commands(project, "On a real cluster")[0], re.MULTILINE)
    said = await shell(doctor, project, variables)
    assert [line for line in said.splitlines() if line.startswith(("warn CRD", "fail"))] == []
