"""Where to connect: what is looked at, in which order, and what a kubeconfig means."""

import base64
import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from windvane.client.config import ClientConfig, ConfigError, load_config
from windvane.client.credentials import Anonymous, BasicAuth, TokenFile

PEM = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n"
PEM64 = base64.b64encode(PEM.encode()).decode()


class Machine:
    """A home directory, a place for a pod's files, and an environment, all in a temporary directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.home = directory / "home"
        self.service_account = directory / "serviceaccount"
        self.environ = {"HOME": str(self.home), "PATH": ""}

    def write(self, path: str, text: str) -> Path:
        file = self.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def kubeconfig(self, path: str, server: str, *, name: str = "dev", current: bool = True) -> Path:
        content = {
            "current-context": name if current else "",
            "contexts": [{"name": name, "context": {"cluster": name}}],
            "clusters": [{"name": name, "cluster": {"server": server}}],
        }
        return self.write(path, json.dumps(content))

    def becomes_a_pod(self, host: str = "10.96.0.1") -> None:
        self.environ |= {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": "443"}
        self.write("serviceaccount/token", "pod-token\n")
        self.write("serviceaccount/ca.crt", PEM)
        self.write("serviceaccount/namespace", "shop\n")

    def load(self, *, kubeconfig: str | Path | None = None, context: str | None = None) -> ClientConfig:
        return load_config(
            kubeconfig=kubeconfig, context=context, environ=self.environ, service_account=self.service_account
        )

    def load_one(self, *, cluster: Mapping[str, object] | None = None, user: Mapping[str, object]) -> ClientConfig:
        """Load a kubeconfig with one context, with this cluster and this user."""
        content = {
            "current-context": "dev",
            "contexts": [{"name": "dev", "context": {"cluster": "kind", "user": "ada", "namespace": "shop"}}],
            "clusters": [{"name": "kind", "cluster": {"server": "https://kind:6443", **(cluster or {})}}],
            "users": [{"name": "ada", "user": user}],
        }
        return self.load(kubeconfig=self.write("one", json.dumps(content)))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


# Where it looks.


def test_an_explicit_file_goes_before_everything(machine: Machine) -> None:
    machine.becomes_a_pod()
    machine.environ["KUBECONFIG"] = str(machine.kubeconfig("env", "https://env"))
    assert machine.load(kubeconfig=machine.kubeconfig("mine", "https://mine")).server == "https://mine"


def test_the_environment_goes_before_the_pod(machine: Machine) -> None:
    machine.becomes_a_pod()
    machine.environ["KUBECONFIG"] = str(machine.kubeconfig("env", "https://env"))
    assert machine.load().server == "https://env"


def test_the_pod_goes_before_the_home_directory(machine: Machine) -> None:
    machine.kubeconfig("home/.kube/config", "https://home")
    machine.becomes_a_pod()
    assert machine.load().server == "https://10.96.0.1:443"


def test_the_home_directory_comes_last(machine: Machine) -> None:
    file = machine.kubeconfig("home/.kube/config", "https://home")
    config = machine.load()
    assert config.server == "https://home"
    assert config.source == f'context "dev" in {file}'


def test_asking_for_a_context_means_not_the_pod(machine: Machine) -> None:
    machine.kubeconfig("home/.kube/config", "https://home", current=False)
    machine.becomes_a_pod()
    assert machine.load(context="dev").server == "https://home"


def test_a_pod_without_a_token_is_not_used(machine: Machine) -> None:
    machine.kubeconfig("home/.kube/config", "https://home")
    machine.becomes_a_pod()
    (machine.service_account / "token").unlink()
    assert machine.load().server == "https://home"


def test_several_files_are_merged_and_missing_ones_passed_over(machine: Machine) -> None:
    first = machine.kubeconfig("1", "https://first", name="a", current=False)
    second = machine.kubeconfig("2", "https://second", name="b")
    machine.environ["KUBECONFIG"] = f"{machine.directory / 'absent'}:{first}::{second}:{first}"
    assert machine.load().server == "https://second"
    assert machine.load(context="a").server == "https://first"


def test_a_mistyped_environment_does_not_end_in_another_cluster(machine: Machine) -> None:
    machine.kubeconfig("home/.kube/config", "https://home")
    machine.becomes_a_pod()
    machine.environ["KUBECONFIG"] = "/absent"
    with pytest.raises(ConfigError, match=r"(?s)KUBECONFIG: set, but none of its files exists: /absent.*unset it"):
        machine.load()


def test_a_broken_file_in_the_environment_is_an_error(machine: Machine) -> None:
    broken = machine.write("broken", "]")
    machine.environ["KUBECONFIG"] = f"{machine.kubeconfig('1', 'https://first')}:{broken}"
    with pytest.raises(ConfigError, match=f"{broken} is not valid YAML"):
        machine.load()


def test_an_explicit_file_must_exist(machine: Machine) -> None:
    machine.kubeconfig("home/.kube/config", "https://home")
    with pytest.raises(ConfigError, match="There is no kubeconfig at /absent"):
        machine.load(kubeconfig="/absent")


def test_finding_nothing_lists_all_that_was_tried(machine: Machine) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.load()
    assert str(caught.value) == (
        "No cluster to connect to. Looked here, in this order:\n"
        "  - the argument kubeconfig: not given\n"
        "  - KUBECONFIG: not set\n"
        "  - the pod's service account: KUBERNETES_SERVICE_HOST is not set, so this is not a pod\n"
        f"  - {machine.home}/.kube/config: no such file\n"
        "Pass kubeconfig=, set KUBECONFIG, or let the tool that made your cluster write ~/.kube/config."
    )


def test_finding_nothing_in_a_pod_says_what_the_pod_lacks(machine: Machine) -> None:
    machine.becomes_a_pod()
    (machine.service_account / "token").unlink()
    del machine.environ["HOME"]
    with pytest.raises(ConfigError, match=r"(?s)serviceaccount/token .*automountServiceAccountToken.*HOME is not set"):
        machine.load()


# A pod.


async def test_a_pod_uses_its_service_account(machine: Machine) -> None:
    machine.becomes_a_pod()
    config = machine.load()
    assert (config.ca, config.namespace) == (PEM.encode(), "shop")
    assert isinstance(config.credentials, TokenFile)
    assert await config.credentials.headers() == {"Authorization": "Bearer pod-token"}


def test_an_ipv6_service_address_gets_brackets(machine: Machine) -> None:
    machine.becomes_a_pod(host="fd00::1")
    assert machine.load().server == "https://[fd00::1]:443"


def test_a_token_that_comes_alone_is_enough(machine: Machine) -> None:
    machine.becomes_a_pod()
    (machine.service_account / "ca.crt").unlink()
    (machine.service_account / "namespace").unlink()
    assert (machine.load().ca, machine.load().namespace) == (None, "default")


# A kubeconfig's cluster.


def test_a_cluster_says_how_to_connect(machine: Machine) -> None:
    cluster = {
        "server": "https://rancher/k8s/clusters/c-1/",
        "certificate-authority-data": PEM64,
        "tls-server-name": "kind.local",
        "proxy-url": "http://proxy:3128",
        "disable-compression": True,
    }
    config = machine.load_one(cluster=cluster, user={})
    assert config.server == "https://rancher/k8s/clusters/c-1"
    assert config.ca == PEM.encode()
    assert (config.tls_server_name, config.proxy_url) == ("kind.local", "http://proxy:3128")
    assert (config.disable_compression, config.insecure, config.namespace) == (True, False, "shop")


@pytest.mark.parametrize(
    ("cluster", "problem"),
    [
        ({"server": ""}, "has no server: write its URL"),
        ({"server": "kind:6443"}, 'the server "kind:6443" is not a URL'),
        ({"server": "https://"}, "is not a URL"),
        ({"server": "https://kind:port"}, "is not a URL"),
        ({"proxy-url": "socks5://proxy"}, 'proxy-url "socks5://proxy" must begin with http:// or https://'),
        ({"certificate-authority-data": "?"}, "certificate-authority-data is not base64"),
        ({"certificate-authority-data": PEM64, "insecure-skip-tls-verify": True}, "also insecure-skip-tls-verify"),
    ],
)
def test_an_unusable_cluster_is_named(machine: Machine, cluster: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.load_one(cluster=cluster, user={})
    assert f'cluster "kind" in {machine.directory}/one' in str(caught.value)
    assert problem in str(caught.value)


# A kubeconfig's user.


async def test_a_token_becomes_a_header(machine: Machine) -> None:
    config = machine.load_one(user={"token": "t0p\n"})
    assert await config.credentials.headers() == {"Authorization": "Bearer t0p"}


async def test_a_token_file_goes_before_a_token(machine: Machine) -> None:
    config = machine.load_one(user={"token": "written", "tokenFile": "secrets/token"})
    assert await config.credentials.headers() == {"Authorization": "Bearer written"}
    machine.write("secrets/token", "from-file")
    await config.credentials.invalidate()
    assert await config.credentials.headers() == {"Authorization": "Bearer from-file"}


def test_a_password_is_basic_auth(machine: Machine) -> None:
    assert isinstance(machine.load_one(user={"username": "ada", "password": "x"}).credentials, BasicAuth)


def test_a_certificate_comes_with_its_key(machine: Machine) -> None:
    machine.write("key.pem", PEM)
    config = machine.load_one(user={"client-certificate-data": PEM64, "client-key": "key.pem"})
    assert (config.client_cert, config.client_key) == (PEM.encode(), PEM.encode())
    assert isinstance(config.credentials, Anonymous)


def test_impersonation_is_passed_on(machine: Machine) -> None:
    config = machine.load_one(
        user={"as": "root", "as-uid": "7", "as-groups": ["a", "b"], "as-user-extra": {"scopes": ["x"]}}
    )
    assert (config.impersonate_user, config.impersonate_uid) == ("root", "7")
    assert (config.impersonate_groups, config.impersonate_extra) == (("a", "b"), {"scopes": ("x",)})


def test_secrets_do_not_travel_over_plain_http(machine: Machine) -> None:
    user = {"token": "t0p", "client-certificate-data": PEM64, "client-key-data": PEM64, "as": "root"}
    config = machine.load_one(cluster={"server": "http://127.0.0.1:8001"}, user=user)
    assert isinstance(config.credentials, Anonymous)
    assert (config.client_cert, config.client_key, config.impersonate_user) == (None, None, "root")


def test_secrets_do_not_show(machine: Machine) -> None:
    key = base64.b64encode(b"-----BEGIN KEY s3cret").decode()
    config = machine.load_one(user={"token": "s3cret", "client-certificate-data": PEM64, "client-key-data": key})
    assert config.client_key is not None
    assert "s3cret" not in repr(config)


EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "login", "interactiveMode": "Never"}


@pytest.mark.parametrize(
    ("user", "problem"),
    [
        ({"token": "two words"}, "The token holds more than one word"),
        ({"token": "t", "username": "ada"}, "both a token and a username"),
        ({"tokenFile": "t", "password": "x"}, "both a token and a username"),
        ({"client-certificate-data": PEM64}, "a client-certificate but no key"),
        ({"client-certificate": "absent.pem"}, "absent.pem: No such file"),
        ({"as-groups": ["a"]}, "without a user: write the user's name in `as`"),
        ({"auth-provider": {"name": "gcp"}}, '"gcp". Exec plugins have replaced those: install gke-gcloud-auth-plugin'),
        ({"auth-provider": {"name": "azure"}}, "kubelogin convert-kubeconfig"),
        ({"auth-provider": {"name": "oidc", "config": {"id-token": "x"}}}, "oidc-login"),
        ({"auth-provider": {"name": "acme"}}, '"acme". Exec plugins have replaced those: ask'),
        ({"exec": {**EXEC, "command": ""}}, "exec has no command"),
        (
            {"exec": {**EXEC, "apiVersion": "client.authentication.k8s.io/v1alpha1"}},
            "Write client.authentication.k8s.io/v1,",
        ),
        ({"exec": {**EXEC, "interactiveMode": None}}, "Write Never, IfAvailable or Always"),
        ({"exec": {**EXEC, "interactiveMode": "Sometimes"}}, 'the interactiveMode "Sometimes"'),
    ],
)
def test_an_unusable_user_is_named(machine: Machine, user: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        machine.load_one(user=user)
    assert f'user "ada" in {machine.directory}/one' in str(caught.value)
    assert problem in str(caught.value)


# Exec plugins.


def plugin(machine: Machine, path: str) -> Path:
    """A program that gives out, as its token, what it was told."""
    program = machine.write(
        path,
        f"#!{sys.executable}\n"
        "import base64, json, os\n"
        "info = json.loads(os.environ['KUBERNETES_EXEC_INFO'])\n"
        "info['status'] = {'token': base64.b64encode(json.dumps(info['spec']).encode()).decode()}\n"
        "print(json.dumps(info))\n",
    )
    program.chmod(0o755)
    return program


async def told(config: ClientConfig) -> object:
    token = (await config.credentials.headers())["Authorization"].removeprefix("Bearer ")
    return json.loads(base64.b64decode(token))


async def test_a_plugin_beside_the_kubeconfig_is_found(machine: Machine) -> None:
    plugin(machine, "bin/login")
    assert await told(machine.load_one(user={"exec": {**EXEC, "command": "bin/login"}})) == {"interactive": False}


async def test_a_plugin_on_the_path_is_found(machine: Machine) -> None:
    machine.environ["PATH"] = str(plugin(machine, "bin/login").parent)
    assert await told(machine.load_one(user={"exec": EXEC})) == {"interactive": False}


async def test_a_beta_plugin_need_not_say_whether_it_is_interactive(machine: Machine) -> None:
    plugin(machine, "login")
    beta = {"apiVersion": "client.authentication.k8s.io/v1beta1", "command": "./login"}
    assert await told(machine.load_one(user={"exec": beta})) == {"interactive": False}


async def test_a_plugin_that_wants_to_know_the_cluster_is_told(machine: Machine) -> None:
    plugin(machine, "login")
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x", "none": None}}
    cluster = {"certificate-authority-data": PEM64, "extensions": [{"name": "other"}, extension]}
    exec_ = {**EXEC, "command": "./login", "provideClusterInfo": True}
    assert await told(machine.load_one(cluster=cluster, user={"exec": exec_})) == {
        "interactive": False,
        "cluster": {
            "server": "https://kind:6443",
            "certificate-authority-data": PEM64,
            "config": {"audience": "x", "none": None},
        },
    }


@pytest.mark.parametrize(
    "static", [{"token": "t"}, {"username": "u"}, {"client-certificate-data": PEM64, "client-key-data": PEM64}]
)
async def test_what_is_written_down_goes_before_a_plugin(machine: Machine, static: dict[str, str]) -> None:
    config = machine.load_one(user={**static, "exec": {**EXEC, "command": "/absent"}})
    await config.credentials.headers()
