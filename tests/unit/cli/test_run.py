"""`windvane run`, as far as it comes without a cluster: what the command line and the environment say."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path

import pytest

from windvane.cli import main
from windvane.cli.consent import ask_to_install, is_local
from windvane.cli.operator_run import Orders
from windvane.cli.webhooks import WebhookOrders
from windvane.client.config import ClientConfig
from windvane.runtime.operator import Operator

OPERATOR = """
from windvane import Context, Operator
from windvane.k8s.core import ConfigMap

operator = Operator("site")
empty = Operator("empty")


@operator.controller(ConfigMap)
async def reconcile(it: ConfigMap, ctx: Context) -> None: ...
"""
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: "http://127.0.0.1:PORT"}}]
contexts: [{name: here, context: {cluster: c, namespace: web}}, {name: there, context: {cluster: c}}]
"""


class Desk:
    """Where somebody sits who runs commands: a directory with an operator and a kubeconfig."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self._monkeypatch = monkeypatch
        self.operated: tuple[Operator, Orders] | None = None
        self.logs: tuple[str, str] | None = None

    def __call__(self, *words: str, **environ: str) -> int:
        with self._monkeypatch.context() as patch:
            for name, value in environ.items():
                patch.setenv(name, value)
            return main(["run", *words])

    def orders(self, *words: str, **environ: str) -> Orders:
        assert self("run_site", *words, **environ) == 0
        assert self.operated is not None
        return self.operated[1]

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.write_text(text)
        return path


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path, monkeypatch)
    for name in [each for each in os.environ if each.startswith(("WINDVANE_", "KUBE")) or each == "WATCH_NAMESPACE"]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "run_site", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    desk.write("run_site.py", OPERATOR)
    monkeypatch.setenv("KUBECONFIG", str(desk.write("config", KUBECONFIG.replace("PORT", "1"))))

    def operate(operator: Operator, orders: Orders) -> None:
        desk.operated = operator, orders

    def set_up_logging(form: str, level: str) -> None:
        desk.logs = form, level

    monkeypatch.setattr("windvane.cli.operator_run.operate", operate)
    monkeypatch.setattr("windvane.runtime.observability.logs.set_up_logging", set_up_logging)
    return desk


def test_without_options_it_watches_everything_and_takes_part_in_election(desk: Desk) -> None:
    orders = desk.orders()
    assert orders.namespaces == []
    assert orders.health == ("127.0.0.1", 8080)
    assert not orders.install_crds
    assert orders.identity.startswith(f"{socket.gethostname()}_")
    assert orders.lease_namespace == ""
    assert orders.shards == 0
    assert (orders.config.server, orders.config.namespace) == ("http://127.0.0.1:1", "web")
    assert desk.logs == ("json", "INFO")


def test_two_replicas_on_one_host_are_told_apart(desk: Desk) -> None:
    assert desk.orders().identity != desk.orders().identity


def test_in_a_pod_the_probes_of_the_kubelet_reach_it(desk: Desk) -> None:
    assert desk.orders(KUBERNETES_SERVICE_HOST="10.0.0.1").health == ("0.0.0.0", 8080)


SETTINGS: list[tuple[list[str], dict[str, str], str, object]] = [
    (["--namespace", "a,b", "--namespace", "c"], {"WINDVANE_NAMESPACE": "a, b,c,"}, "namespaces", ["a", "b", "c"]),
    (["--namespace", "a,a"], {"WATCH_NAMESPACE": "a"}, "namespaces", ["a"]),
    (["--install-crds"], {"WINDVANE_INSTALL_CRDS": "true"}, "install_crds", True),
    (["--no-leader-elect"], {"WINDVANE_LEADER_ELECT": "False"}, "identity", ""),
    (["--identity", "me"], {"WINDVANE_IDENTITY": "me"}, "identity", "me"),
    (["--shards", "64"], {"WINDVANE_SHARDS": "64"}, "shards", 64),
    (["--lease-namespace", "ops"], {"WINDVANE_LEASE_NAMESPACE": "ops"}, "lease_namespace", "ops"),
    (["--metrics-port", "0"], {"WINDVANE_METRICS_PORT": "0"}, "health", ("127.0.0.1", 0)),
    (["--metrics-port", "none"], {"WINDVANE_METRICS_PORT": "none"}, "health", None),
    (["--metrics-host", "::"], {"WINDVANE_METRICS_HOST": "::"}, "health", ("::", 8080)),
    (["--no-webhooks"], {"WINDVANE_WEBHOOKS": "false"}, "webhooks", None),
    (
        ["--webhook-service", "a/b:8443", "--webhook-port", "0"],
        {"WINDVANE_WEBHOOK_SERVICE": "a/b:8443", "WINDVANE_WEBHOOK_PORT": "0"},
        "webhooks",
        WebhookOrders(host="", port=0, service="a/b:8443", url="", client_ca=None, in_pod=False),
    ),
    (
        ["--webhook-url", "https://a:1", "--webhook-host", "::"],
        {"WINDVANE_WEBHOOK_URL": "https://a:1", "WINDVANE_WEBHOOK_HOST": "::"},
        "webhooks",
        WebhookOrders(host="::", port=9443, service="", url="https://a:1", client_ca=None, in_pod=False),
    ),
]


@pytest.mark.parametrize(("flags", "environ", "name", "expected"), SETTINGS)
def test_each_option_is_a_flag_and_a_variable(
    desk: Desk, flags: list[str], environ: Mapping[str, str], name: str, expected: object
) -> None:
    assert getattr(desk.orders(*flags), name) == expected
    assert getattr(desk.orders(**environ), name) == expected


@pytest.mark.parametrize(
    ("flags", "environ", "name", "expected"),
    [
        (["--namespace", "a"], {"WINDVANE_NAMESPACE": "b", "WATCH_NAMESPACE": "c"}, "namespaces", ["a"]),
        ([], {"WINDVANE_NAMESPACE": "b", "WATCH_NAMESPACE": "c"}, "namespaces", ["b"]),
        ([], {"WINDVANE_NAMESPACE": "", "WATCH_NAMESPACE": "c"}, "namespaces", ["c"]),
        (["--namespace", ""], {"WATCH_NAMESPACE": "c"}, "namespaces", []),
        ([], {"WATCH_NAMESPACE": ""}, "namespaces", []),
        (["--no-install-crds"], {"WINDVANE_INSTALL_CRDS": "1"}, "install_crds", False),
        (["--leader-elect", "--identity", "me"], {"WINDVANE_LEADER_ELECT": "0"}, "identity", "me"),
        ([], {"WINDVANE_METRICS_PORT": ""}, "health", ("127.0.0.1", 8080)),
        (["--metrics-port="], {"WINDVANE_METRICS_PORT": "1"}, "health", None),
    ],
)
def test_the_command_line_wins_and_an_empty_variable_is_not_set(
    desk: Desk, flags: list[str], environ: Mapping[str, str], name: str, expected: object
) -> None:
    assert getattr(desk.orders(*flags, **environ), name) == expected


@pytest.mark.parametrize(
    ("flags", "environ", "expected"),
    [([], {}, 8), (["--concurrency", "3"], {}, 3), ([], {"WINDVANE_CONCURRENCY": "3"}, 3)],
)
def test_concurrency_is_the_controllers_own_unless_it_is_given(
    desk: Desk, flags: list[str], environ: Mapping[str, str], expected: int
) -> None:
    desk.orders(*flags, **environ)
    assert desk.operated is not None
    (declaration,) = desk.operated[0].declarations.values()
    assert declaration.concurrency == expected


def test_another_context_or_kubeconfig_can_be_named(desk: Desk) -> None:
    assert desk.orders("--context", "there").config.namespace == "default"
    other = desk.write("other", KUBECONFIG.replace("PORT", "2"))
    assert desk.orders("--kubeconfig", str(other)).config.server == "http://127.0.0.1:2"
    assert desk.orders(WINDVANE_KUBECONFIG=str(other), WINDVANE_CONTEXT="there").config.server == "http://127.0.0.1:2"


AFAR = KUBECONFIG.replace("127.0.0.1", "203.0.113.7")


@pytest.fixture
def afar(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Where the kubeconfig leads to a cluster that is not on this machine."""
    monkeypatch.setenv("KUBECONFIG", str(desk.write("config", AFAR.replace("PORT", "6443"))))
    return desk


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A terminal, and what is typed there."""

    def type_in(text: str) -> None:
        monkeypatch.setattr("sys.stdin", StringIO(text))
        monkeypatch.setattr("sys.stdin.isatty", lambda: True)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True)

    return type_in


def test_crds_are_not_installed_on_another_machine_unasked(afar: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert afar("run_site", "--install-crds") == 2
    assert afar.operated is None
    assert capsys.readouterr().err == (
        "windvane: --install-crds would change a cluster that is not on this machine: http://203.0.113.7:6443, "
        f'context "here" in {afar.directory}/config. If that is the one: --context here, or --yes\n'
    )


@pytest.mark.parametrize(
    ("words", "environ"),
    [
        (["--install-crds", "--yes"], {}),
        (["--install-crds", "--context", "there"], {}),
        (["--install-crds"], {"WINDVANE_YES": "true"}),
        (["--install-crds"], {"WINDVANE_CONTEXT": "here"}),
        ([], {}),
    ],
)
def test_consent_is_a_flag_a_context_or_a_variable(afar: Desk, words: list[str], environ: dict[str, str]) -> None:
    assert afar.orders(*words, **environ).install_crds == ("--install-crds" in words)


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("Yes\n", 0), ("n\n", 1), ("\n", 1), ("", 1)])
def test_on_a_terminal_it_asks(
    afar: Desk, answers: Callable[[str], None], answer: str, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    answers(answer)
    assert afar("run_site", "--install-crds") == code
    assert (afar.operated is not None) == (code == 0)
    question, _, rest = capsys.readouterr().err.partition("[y/N] ")
    where = f'http://203.0.113.7:6443, context "here" in {afar.directory}/config'
    assert question == f"Install the CRDs of operator site on {where}? "
    assert rest == ("" if code == 0 else "windvane: nothing was written\n")


@pytest.mark.parametrize(
    ("server", "proxy", "local"),
    [
        ("https://127.0.0.1:6443", None, True),
        ("https://127.9.9.9", None, True),
        ("https://[::1]:6443", None, True),
        ("https://localhost:6443", None, True),
        ("https://0.0.0.0:35555", None, True),  # k3d
        ("https://192.168.49.2:8443", None, False),
        ("https://127.0.0.1:6443", "http://proxy.example", False),
    ],
)
def test_a_cluster_is_local_if_its_address_is(server: str, proxy: str | None, local: bool) -> None:
    assert is_local(ClientConfig(server=server, proxy_url=proxy)) == local


@pytest.mark.parametrize(("address", "local"), [("127.0.0.1", True), ("203.0.113.7", False), ("", False)])
def test_a_name_is_local_if_its_addresses_are(address: str, local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of Docker Desktop is."""

    def resolve(host: str, port: object) -> list[tuple[object, ...]]:
        assert host == "kubernetes.docker.internal"
        if not address:
            raise socket.gaierror("no such host")
        return [(socket.AF_INET, 0, 0, "", (address, 0))]

    monkeypatch.setattr("socket.getaddrinfo", resolve)
    assert is_local(ClientConfig(server="https://kubernetes.docker.internal:6443")) == local


def test_in_a_pod_nobody_is_asked() -> None:
    ask_to_install(ClientConfig(server="https://203.0.113.7"), "site")


def test_an_empty_kubeconfig_variable_is_not_set_and_the_log_says_which_cluster_it_is_then(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    (desk.directory / ".kube").mkdir()
    desk.write(".kube/config", KUBECONFIG.replace("PORT", "3"))
    assert desk.orders(KUBECONFIG="").config.server == "http://127.0.0.1:3"
    (said,) = caplog.messages
    source = f'context "here" in {desk.directory}/.kube/config'
    assert said == f"KUBECONFIG is empty, which counts as not set: the cluster is that of {source}"


def test_logs_are_as_asked_for(desk: Desk) -> None:
    desk.orders("--log-format", "console", WINDVANE_LOG_LEVEL="DEBUG")
    assert desk.logs == ("console", "DEBUG")


def test_on_a_terminal_logs_are_for_people(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    desk.orders()
    assert desk.logs == ("console", "INFO")


@pytest.mark.parametrize(
    ("words", "environ", "message"),
    [
        (["--log-format", "xml"], {}, "argument --log-format: 'xml' is none of console, json"),
        ([], {"WINDVANE_LOG_FORMAT": "xml"}, "variable WINDVANE_LOG_FORMAT: 'xml' is none of console, json"),
        (["--concurrency", "0"], {}, "argument --concurrency: '0' is no number from 1 on"),
        (["--metrics-port", "x"], {}, "'x' is no port: write a number from 0 (any free one) to 65535, or none"),
        (["--metrics-port", "65536"], {}, "'65536' is no port"),
        (["--webhook-port", "none"], {}, "'none' is no port: write a number from 0 (any free one) to 65535"),
        (["--webhook-service", "a:b"], {}, "'a:b' is no Service: write NAME, NAMESPACE/NAME or NAMESPACE/NAME:PORT"),
        (["--webhook-url", "http://a"], {}, "'http://a' is no URL that an API server calls: write https://HOST:PORT"),
        (
            ["--webhook-client-ca", "nowhere"],
            {},
            "'nowhere' has no certificates in PEM form: No such file or directory",
        ),
        (["--webhook-client-ca", __file__], {}, "has no certificates in PEM form: there is no certificate in it"),
        (["--namespace", "a,B"], {}, "argument --namespace: 'B' can't be a namespace: a lowercase RFC 1123 label"),
        ([], {"WATCH_NAMESPACE": "a/b"}, "variable WATCH_NAMESPACE: 'a/b' can't be a namespace"),
        (["--lease-namespace", ""], {}, "argument --lease-namespace: '' can't be a namespace"),
        ([], {"WINDVANE_INSTALL_CRDS": "maybe"}, "variable WINDVANE_INSTALL_CRDS: 'maybe' is neither true nor false"),
    ],
)
def test_what_makes_no_sense_is_explained(
    desk: Desk, words: list[str], environ: Mapping[str, str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        desk("run_site", *words, **environ)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_an_operator_that_is_not_there_is_explained(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert desk("run_site:op") == 2
    assert capsys.readouterr().err == (
        f"windvane: run_site ({desk.directory}/run_site.py) has no 'op'; write run_site:operator or run_site:empty\n"
    )


def test_a_broken_module_is_told_in_a_line(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.write("run_site.py", "1 / 0")
    assert desk("run_site") == 1
    assert capsys.readouterr().err == (
        "windvane: run_site can't be imported: ZeroDivisionError: division by zero (run_site.py, line 1); "
        "-v shows the traceback\n"
    )


def test_without_any_configuration_it_says_how_to_have_a_cluster(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk("run_site", KUBECONFIG="") == 1
    error = capsys.readouterr().err
    assert error.startswith("windvane: No cluster to connect to. Looked here, in this order:\n")
    assert "windvane cluster start --detach && export KUBECONFIG=$(windvane cluster kubeconfig)\n" in error


def test_a_context_that_is_not_there_is_explained_by_those_that_are(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    assert desk("run_site", "--context", "nowhere") == 1
    assert capsys.readouterr().err == (
        f'windvane: No context "nowhere" in {desk.directory}/config. The contexts that exist: "here", "there".\n'
    )


def test_help_names_every_variable(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    said = capsys.readouterr().out
    for name in ("KUBECONFIG", "NAMESPACE", "LOG_LEVEL", "INSTALL_CRDS", "LEADER_ELECT", "METRICS_PORT", "IDENTITY"):
        assert f"WINDVANE_{name}" in said
    assert "WATCH_NAMESPACE" in said


def test_help_loads_neither_client_nor_runtime() -> None:
    code = "import sys, windvane.cli; print([m for m in sys.modules if m.startswith(('aiohttp', 'windvane.runtime'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
