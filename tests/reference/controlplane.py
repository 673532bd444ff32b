"""The reference control plane: a real kube-apiserver on loopback, which judges what the Kubernetes API does.

There is no scheduler, no controller and no node behind it: what counts here is what the API server itself answers.

History, and how to lose it. A real API server answers 410 only when the history asked for is gone, and it keeps that in
two places: in etcd, and in its own watch cache. Compacting etcd leaves the cache, which goes on answering: old watches
from its events (it sizes itself to hold the last 75 seconds, and no flag makes it smaller), continue tokens from its
snapshots. Only a new API server process has an empty one. So `compact` does both, and from then on every older
resourceVersion and continue token gets 410. Nothing else compacts: the API server's own compaction every five minutes
is off, unless asked for, so that a slow run of the tests sees the same as a fast one.
"""

import base64
import http.client
import json
import os
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from reference.certificates import Authority, issue_signing_key, issue_token, write_private
from reference.child import Child

BUILD = Path(__file__).parents[2] / "reference" / "build.py"
AUTHENTICATION = {
    "apiVersion": "apiserver.config.k8s.io/v1",
    "kind": "AuthenticationConfiguration",
    "anonymous": {"enabled": True, "conditions": [{"path": f"/{each}"} for each in ("healthz", "livez", "readyz")]},
}
# Who wrote what, and how it was answered; no bodies.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "Metadata", "verbs": ["create", "update", "patch", "delete", "deletecollection"]},
        {"level": "None"},
    ],
}
SECONDS_TO_START = 120
SECONDS_BETWEEN_LOOKS = 0.05


class ControlPlaneError(Exception):
    """The reference control plane isn't built, didn't start, or refused something; the message says why."""


class Answer(NamedTuple):
    status: int
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Programs(NamedTuple):
    """Where `make reference` left the programs, and the version of Kubernetes they are."""

    directory: Path
    version: str

    @classmethod
    def find(cls) -> Self:
        asked = subprocess.run([sys.executable, BUILD, "--where"], capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            raise ControlPlaneError(asked.stderr.strip())
        directory = Path(asked.stdout.strip())
        return cls(directory, directory.parent.name)


class ReferenceControlPlane:
    """One etcd and one kube-apiserver, from `start` to `stop`; all they write is in a temporary directory.

    `etcd` is the etcd program to use, if not the one that was built with the API server. With one older than 3.5.13,
    such as PyPI's, the API server works but refuses every streaming list (`sendInitialEvents`). `compaction` is how
    often the API server forgets history by itself, such as 5m.

    With `service_accounts`, pods must have a ServiceAccount that is there. No controller makes the account `default`
    here, so that without this every test with a pod would have to. With `audit`, writes are recorded in `audit_log`.
    The `admission_plugins` are on beyond those that always are. With `migrations`, StorageVersionMigrations are served.
    `webhook_certificates` are the files (certificate and key) that it shows to webhooks, by their `HOST:PORT`, or `*`.
    """

    # All known from `start` on.
    url: str
    etcd_url: str
    ca_file: Path
    client_cert_file: Path  # of a member of system:masters
    client_key_file: Path
    admin_token: str  # the same rights as the client certificate
    user_token: str  # "ordinary", who may do nothing but look at the API's discovery documents
    kubeconfig: Path  # readable by its owner only; uses the client certificate
    audit_log: Path

    def __init__(
        self,
        *,
        etcd: Path | None = None,
        compaction: str = "0",
        service_accounts: bool = False,
        audit: bool = False,
        admission_plugins: tuple[str, ...] = (),
        migrations: bool = False,
        webhook_certificates: Mapping[str, tuple[Path, Path]] | None = None,
    ) -> None:
        self.programs = Programs.find()
        self._etcd_program = etcd or self.programs.directory / "etcd"
        self._compaction = compaction
        self._plugins_off = "" if service_accounts else "ServiceAccount"
        self._audit = audit
        self._plugins_on = ",".join(admission_plugins)
        self._migrations = migrations
        self._webhook_certificates = webhook_certificates or {}
        self._etcd: Child | None = None
        self._apiserver: Child | None = None
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._reserved_ports: list[socket.socket] = []

    def start(self) -> None:
        """Start both programs and wait until the API server is ready and has what every cluster has."""
        try:
            self._prepare()
            self._start_etcd()
            self._start_apiserver()
        except BaseException:
            self._end()
            raise

    def stop(self) -> None:
        """End both programs and remove what they wrote. Raises if one of them had died on its own before."""
        obituaries = self._obituaries()
        self._end()
        if obituaries:
            raise ControlPlaneError("\n".join(["The reference control plane died during the tests.", *obituaries]))

    def restart_apiserver(self) -> None:
        """Start the API server anew at the same address, with an empty watch cache. Connections are cut."""
        if self._apiserver is not None:
            self._apiserver.stop()
        self._start_apiserver()

    def compact(self) -> None:
        """Forget all history up to now, in etcd and in the API server, which is restarted for it."""
        # Compacting twice to one revision is an error in etcd. A write of our own, outside of what the API
        # server looks at, makes sure that there is a new one, and says which.
        key = base64.b64encode(b"/windvane/compacted").decode()
        revision = self._ask_etcd("/v3/kv/put", {"key": key})["header"]["revision"]
        self._ask_etcd("/v3/kv/compaction", {"revision": revision, "physical": True})
        self.restart_apiserver()

    def kubectl(self, *arguments: str, input: str | None = None) -> str:  # noqa: A002 — subprocess.run's word for it
        """What kubectl of the same version prints, as administrator, with `input` to read for `-f -`."""
        program = self.programs.directory / "kubectl"
        # Neither the discovery cache nor the preferences of whoever runs the tests: they are about other servers.
        settings = [f"--kubeconfig={self.kubeconfig}", f"--cache-dir={self._path('kubectl-cache')}"]
        done = subprocess.run(
            [program, *settings, *arguments],
            input=input or "",
            env=os.environ | {"KUBERC": "off"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            command = " ".join(["kubectl", *arguments])
            raise ControlPlaneError("\n".join([f"`{command}` failed: {done.stderr.strip()}", *self._obituaries()]))
        return done.stdout

    def get(self, path: str, *, token: str | None = None) -> Answer:
        """What the API server answers to GET, as administrator or as the owner of `token`."""
        trust = ssl.create_default_context(cafile=self.ca_file)
        address = self.url.removeprefix("https://")
        connection = http.client.HTTPSConnection(address, timeout=SECONDS_TO_START, context=trust)
        return _exchange(connection, "GET", path, headers={"Authorization": f"Bearer {token or self.admin_token}"})

    def pids(self) -> list[int]:
        """The process ids of what is running."""
        return [child.pid for child in (self._etcd, self._apiserver) if child is not None]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _prepare(self) -> None:
        """Choose ports and make everything that must exist before the programs start."""
        self._directory = tempfile.TemporaryDirectory(prefix="windvane-reference-")
        self.etcd_url = f"http://127.0.0.1:{self._reserve_port()}"
        self.url = f"https://127.0.0.1:{self._reserve_port()}"
        authority = Authority(self._path())
        self.ca_file = authority.file
        self._server_cert_file, self._server_key_file = authority.issue_server(
            "kube-apiserver", "127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"
        )
        self.client_cert_file, self.client_key_file = authority.issue_client("admin", "system:masters")
        self._signing_key_file = issue_signing_key(self._path("service-account.key"))
        self.admin_token, self.user_token = issue_token(), issue_token()
        self._token_file = self._path("tokens.csv")
        users = f'{self.admin_token},admin,1,"system:masters"\n{self.user_token},ordinary,2\n'
        write_private(self._token_file, users.encode())
        # Somebody without credentials may ask for health, and is nobody for all else, as with the embedded server.
        self._authentication_file = self._path("authentication.json")
        write_private(self._authentication_file, json.dumps(AUTHENTICATION).encode())
        self.audit_log = self._path("audit.log")
        self._audit_policy_file = self._path("audit-policy.json")
        write_private(self._audit_policy_file, json.dumps(AUDIT_POLICY).encode())
        self.kubeconfig = self._path("kubeconfig")
        write_private(self.kubeconfig, json.dumps(self._kubeconfig(), indent=2).encode())

    def _reserve_port(self) -> str:
        """A port that stays ours: nobody else gets it before our server has started, or while it restarts.

        A socket is bound to it and never listens, and the server shares the port with it (SO_REUSEPORT).
        """
        reserved = socket.socket()
        self._reserved_ports.append(reserved)
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reserved.bind(("127.0.0.1", 0))
        return str(reserved.getsockname()[1])

    def _kubeconfig(self) -> dict[str, object]:
        def embedded(file: Path) -> str:
            return base64.b64encode(file.read_bytes()).decode()

        cluster = {"server": self.url, "certificate-authority-data": embedded(self.ca_file)}
        user = {
            "client-certificate-data": embedded(self.client_cert_file),
            "client-key-data": embedded(self.client_key_file),
        }
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "reference",
            "contexts": [{"name": "reference", "context": {"cluster": "reference", "user": "admin"}}],
            "clusters": [{"name": "reference", "cluster": cluster}],
            "users": [{"name": "admin", "user": user}],
        }

    def _start_etcd(self) -> None:
        self._etcd = Child(
            self._etcd_program,
            f"--data-dir={self._path('etcd')}",
            f"--listen-client-urls={self.etcd_url}",
            f"--advertise-client-urls={self.etcd_url}",
            "--listen-peer-urls=http://127.0.0.1:0",  # it has no peers, but insists on a port for them
            "--socket-reuse-port",
            "--unsafe-no-fsync",  # the data isn't needed after a crash, and tests write a lot
            "--log-level=warn",
            log=self._path("etcd.log"),
        )
        self._wait_for(self._etcd, lambda: self._exchange_with_etcd("GET", "/health").status == 200)

    def _start_apiserver(self) -> None:
        self._apiserver = Child(
            self.programs.directory / "kube-apiserver",
            f"--etcd-servers={self.etcd_url}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self.url.rpartition(':')[2]}",
            "--permit-port-sharing",
            # Kubernetes allows no loopback address in the Endpoints of its own service. This one is reserved
            # for documentation, so it is the same on every machine; nothing ever connects to it.
            "--advertise-address=192.0.2.1",
            f"--cert-dir={self._path()}",
            f"--tls-cert-file={self._server_cert_file}",
            f"--tls-private-key-file={self._server_key_file}",
            f"--client-ca-file={self.ca_file}",
            f"--token-auth-file={self._token_file}",
            f"--authentication-config={self._authentication_file}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={self._signing_key_file}",
            f"--service-account-signing-key-file={self._signing_key_file}",
            "--service-cluster-ip-range=10.0.0.0/16",
            "--allow-privileged",
            f"--disable-admission-plugins={self._plugins_off}",
            f"--enable-admission-plugins={self._plugins_on}",
            f"--etcd-compaction-interval={self._compaction}",
            # After two seconds, as long as a busy machine may keep etcd waiting for a core, it would call itself ill.
            "--etcd-healthcheck-timeout=60s",
            "--etcd-readycheck-timeout=60s",
            *self._audit_flags(),
            *self._migration_flags(),
            *self._webhook_flags(),
            log=self._path("kube-apiserver.log"),
        )
        self._wait_for(self._apiserver, self._is_ready)

    def _migration_flags(self) -> list[str]:
        group = "storagemigration.k8s.io/v1beta1"
        flags = ["--feature-gates=StorageVersionMigrator=true", f"--runtime-config={group}=true"]
        return flags if self._migrations else []

    def _webhook_flags(self) -> list[str]:
        if not self._webhook_certificates:
            return []
        users = [
            {"name": host, "user": {"client-certificate": str(certificate), "client-key": str(key)}}
            for host, (certificate, key) in self._webhook_certificates.items()
        ]
        shown = self._path("webhooks.kubeconfig")
        shown.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "users": users}))
        group = "apiserver.config.k8s.io/v1"
        webhooks = {"apiVersion": group, "kind": "WebhookAdmissionConfiguration", "kubeConfigFile": str(shown)}
        plugins = [
            {"name": name, "configuration": webhooks}
            for name in ("MutatingAdmissionWebhook", "ValidatingAdmissionWebhook")
        ]
        file = self._path("admission.json")
        file.write_text(json.dumps({"apiVersion": group, "kind": "AdmissionConfiguration", "plugins": plugins}))
        return [f"--admission-control-config-file={file}"]

    def _audit_flags(self) -> list[str]:
        if not self._audit:
            return []
        return [f"--audit-policy-file={self._audit_policy_file}", f"--audit-log-path={self.audit_log}"]

    def _is_ready(self) -> bool:
        # What every cluster has is created in the background, and /readyz doesn't wait for it: namespaces, this last of
        # all, and the server's own service.
        there = ("/api/v1/namespaces/kube-node-lease", "/api/v1/namespaces/default/services/kubernetes")
        # Nor does it wait until who decides about access has noticed the roles that everybody has.
        return (
            all(self.get(path).status == 200 for path in ("/readyz", *there))
            and self.get("/version", token=self.user_token).status == 200
        )

    def _wait_for(self, child: Child, is_ready: Callable[[], bool]) -> None:
        for _ in range(int(SECONDS_TO_START / SECONDS_BETWEEN_LOOKS)):
            try:
                if is_ready():
                    return
            except TimeoutError:
                break  # it listens and doesn't answer: it hangs, and asking again would take as long
            except (OSError, http.client.HTTPException):
                pass  # it doesn't listen yet
            if child.exits_within(SECONDS_BETWEEN_LOOKS):
                break
        raise ControlPlaneError(f"{child.name} did not become ready. {child.last_words()}")

    def _ask_etcd(self, path: str, question: dict[str, object]) -> Any:
        """Ask over etcd's JSON gateway, so that no etcd client is needed."""
        answer = self._exchange_with_etcd("POST", path, body=json.dumps(question).encode())
        if answer.status != 200:
            raise ControlPlaneError(f"etcd answered {answer.status} to {path}: {answer.body.decode()}")
        return answer.json()

    def _exchange_with_etcd(self, method: str, path: str, **rest: Any) -> Answer:
        connection = http.client.HTTPConnection(self.etcd_url.removeprefix("http://"), timeout=SECONDS_TO_START)
        return _exchange(connection, method, path, **rest)

    def _obituaries(self) -> list[str]:
        """The last words of each program that has died on its own."""
        running = [child for child in (self._etcd, self._apiserver) if child is not None]
        return [child.last_words() for child in running if child.exits_within(0)]

    def _end(self) -> None:
        # The API server first: without etcd it wouldn't end, but wait for it.
        for child in (self._apiserver, self._etcd):
            if child is not None:
                child.stop()
        self._apiserver = self._etcd = None
        while self._reserved_ports:
            self._reserved_ports.pop().close()
        if self._directory is not None:
            self._directory.cleanup()
            self._directory = None

    def _path(self, name: str = "") -> Path:
        if self._directory is None:
            raise ControlPlaneError("The reference control plane isn't running; call start() first.")
        return Path(self._directory.name) / name


def _exchange(connection: http.client.HTTPConnection, method: str, path: str, **rest: Any) -> Answer:
    try:
        connection.request(method, path, **rest)
        response = connection.getresponse()
        return Answer(response.status, response.read())
    finally:
        connection.close()
