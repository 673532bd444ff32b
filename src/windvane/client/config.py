"""Where the API server is and who we are to it: everything that is known before connecting.

`load_config` looks in this order, and the first that is there decides:

1. the file passed as `kubeconfig=`;
2. the files in the environment variable KUBECONFIG, merged. If it is set, nothing below is looked at: a
   mistyped path must not end in another cluster;
3. the service account of the pod we run in, unless `context=` asks for a context: a pod has none;
4. ~/.kube/config.
"""

import base64
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from windvane.client.credentials import (
    Anonymous,
    BasicAuth,
    BearerToken,
    Credentials,
    CredentialsError,
    TokenFile,
)
from windvane.client.exec_plugin import ExecCommand, ExecPlugin
from windvane.client.kubeconfig import Cluster, ConfigError, Kubeconfig, NamedEntry, User, merge, read

__all__ = ["ClientConfig", "ConfigError", "NothingFound", "load_config"]

# Where the kubelet puts the token, the CA and the namespace of a pod's service account.
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")

EXEC_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")

# The name under which a cluster keeps what its exec plugin should know.
EXEC_EXTENSION = "client.authentication.k8s.io/exec"

# What to do instead of each auth-provider that kubectl had before exec plugins.
AUTH_PROVIDERS = {
    "gcp": "install gke-gcloud-auth-plugin and run `gcloud container clusters get-credentials`",
    "azure": "install kubelogin and run `kubelogin convert-kubeconfig`",
    "oidc": "install the kubectl plugin oidc-login and run `kubectl oidc-login setup`",
}


class NothingFound(ConfigError):
    """There is no configuration in any of the places."""


@dataclass(frozen=True, kw_only=True)
class ClientConfig:
    """One API server and one identity. Secrets stay out of its repr."""

    server: str
    """The base URL, without a slash at the end. It may have a path, which comes before every API path."""
    ca: bytes | None = field(default=None, repr=False)
    """The certificates (PEM) to trust; the system's own if None."""
    insecure: bool = False
    """Don't check the server's certificate."""
    tls_server_name: str | None = None
    """The name that the server's certificate must have, if it isn't the host in `server`."""
    proxy_url: str | None = None
    """The proxy to go through; None leaves it to the environment."""
    disable_compression: bool = False
    """Ask for uncompressed responses: faster where the network is."""
    namespace: str = "default"
    """The namespace to work in when none is named."""
    client_cert: bytes | None = field(default=None, repr=False)
    """A client certificate (PEM) that never changes; `credentials.client_certificate()` has one that does."""
    client_key: bytes | None = field(default=None, repr=False)
    credentials: Credentials = field(default_factory=Anonymous, repr=False)
    impersonate_user: str | None = None
    """Act as this user. The other impersonate fields are empty without it."""
    impersonate_uid: str | None = None
    impersonate_groups: tuple[str, ...] = ()
    impersonate_extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = "the program's own configuration"
    """Where all this was found, in words for messages."""
    context: str = ""
    """Which context of a kubeconfig it is; empty if it is none, as in a pod."""
    kubeconfig: Path | None = None
    """The file that names the server, if it is in one."""


def load_config(
    *,
    kubeconfig: str | Path | None = None,
    context: str | None = None,
    environ: Mapping[str, str] = os.environ,
    service_account: Path = SERVICE_ACCOUNT,
) -> ClientConfig:
    """Find out which API server to talk to and as whom; `ConfigError` lists all that was tried.

    The order is that of this module's docstring. `context` names a context of the kubeconfig; without it,
    the current one counts.
    """
    if kubeconfig is not None:
        if not (found := _read_existing([Path(kubeconfig)])):
            raise ConfigError(f"There is no kubeconfig at {Path(kubeconfig).absolute()}: correct the path.")
        return _from_kubeconfig(found[0], context, environ)
    tried = {"the argument kubeconfig": "not given"}

    if listed := [path for path in environ.get("KUBECONFIG", "").split(os.pathsep) if path]:
        if found := _read_existing([Path(path) for path in dict.fromkeys(listed)]):
            return _from_kubeconfig(merge(found), context, environ)
        tried["KUBECONFIG"] = f"set, but none of its files exists: {', '.join(listed)}"
        raise _nothing_found(tried, "Correct KUBECONFIG, or unset it to have the other places looked at.")
    tried["KUBECONFIG"] = "not set"

    if context:
        tried["the pod's service account"] = f'has no contexts, and the context "{context}" is asked for'
    elif problem := _why_not_in_a_pod(environ, service_account):
        tried["the pod's service account"] = problem
    else:
        return _from_pod(environ, service_account)

    home = environ.get("HOME") or environ.get("USERPROFILE")
    if not home:
        tried["~/.kube/config"] = "no home directory: HOME is not set"
    elif found := _read_existing([Path(home, ".kube", "config")]):
        return _from_kubeconfig(found[0], context, environ)
    else:
        tried[str(Path(home, ".kube", "config"))] = "no such file"
    raise _nothing_found(
        tried,
        "Pass kubeconfig=, set KUBECONFIG, or let the tool that made your cluster write ~/.kube/config.",
    )


def _nothing_found(tried: Mapping[str, str], remedy: str) -> NothingFound:
    attempts = "".join(f"\n  - {place}: {problem}" for place, problem in tried.items())
    return NothingFound(f"No cluster to connect to. Looked here, in this order:{attempts}\n{remedy}")


def _read_existing(files: list[Path]) -> list[Kubeconfig]:
    """Read the files that exist: kubectl passes over missing ones, but not over broken ones."""
    found = []
    for file in files:
        try:
            found.append(read(file))
        except FileNotFoundError:
            continue
    return found


def _why_not_in_a_pod(environ: Mapping[str, str], service_account: Path) -> str | None:
    for variable in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        if not environ.get(variable):
            return f"{variable} is not set, so this is not a pod"
    if not (service_account / "token").is_file():
        return f"no {service_account / 'token'} (does the pod set automountServiceAccountToken to false?)"
    return None


def _from_pod(environ: Mapping[str, str], service_account: Path) -> ClientConfig:
    host, port = environ["KUBERNETES_SERVICE_HOST"], environ["KUBERNETES_SERVICE_PORT"]

    def read_file(name: str) -> bytes | None:
        try:
            return (service_account / name).read_bytes()
        except FileNotFoundError:
            return None  # a token mounted by hand may come alone: the server's certificate may be a public one
        except OSError as error:
            raise ConfigError(f"Cannot read {service_account / name}: {error.strerror}.") from error

    namespace = (read_file("namespace") or b"").decode(errors="replace").strip()
    return ClientConfig(
        server=f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}",
        ca=read_file("ca.crt"),
        namespace=namespace or "default",
        credentials=TokenFile(service_account / "token"),
        source=f"the pod's service account in {service_account}",
    )


def _from_kubeconfig(kubeconfig: Kubeconfig, context: str | None, environ: Mapping[str, str]) -> ClientConfig:
    chosen, cluster, user = kubeconfig.choose(context)
    config = ClientConfig(
        server=_server(cluster),
        ca=cluster.pem(
            "certificate-authority",
            data=cluster.value.certificate_authority_data,
            path=cluster.value.certificate_authority,
        ),
        insecure=cluster.value.insecure_skip_tls_verify,
        tls_server_name=cluster.value.tls_server_name or None,
        proxy_url=_proxy_url(cluster),
        disable_compression=cluster.value.disable_compression,
        namespace=chosen.value.namespace or "default",
        source=str(chosen),
        context=chosen.name,
        kubeconfig=cluster.file,
    )
    if config.insecure and config.ca is not None:
        raise ConfigError(
            f"{cluster} has a certificate-authority and also insecure-skip-tls-verify: remove the latter."
        )
    if user is None:
        return config
    config = _impersonating(config, user)
    if not config.server.startswith("https:"):
        return config  # as kubectl does: secrets don't travel unencrypted, for example to `kubectl proxy`
    config = _with_certificate(config, user)
    return replace(config, credentials=_credentials(config, user, cluster, environ))


def _server(cluster: NamedEntry[Cluster]) -> str:
    server = cluster.value.server
    if not server:
        raise ConfigError(f"{cluster} has no server: write its URL, such as https://10.0.0.1:6443.")
    try:
        url = urlsplit(server)
        usable = url.scheme in ("http", "https") and bool(url.hostname) and url.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(f'{cluster}: the server "{server}" is not a URL. Write one such as https://10.0.0.1:6443.')
    return url._replace(query="", fragment="").geturl().rstrip("/")


def _proxy_url(cluster: NamedEntry[Cluster]) -> str | None:
    proxy = cluster.value.proxy_url
    if proxy and not proxy.startswith(("http://", "https://")):
        # kubectl takes socks5 as well; the HTTP library under us does not.
        raise ConfigError(f'{cluster}: the proxy-url "{proxy}" must begin with http:// or https://.')
    return proxy or None


def _impersonating(config: ClientConfig, user: NamedEntry[User]) -> ClientConfig:
    someone = user.value
    if not someone.as_ and (someone.as_uid or someone.as_groups or someone.as_user_extra):
        raise ConfigError(f"{user} impersonates groups, a uid or extras without a user: write the user's name in `as`.")
    return replace(
        config,
        impersonate_user=someone.as_ or None,
        impersonate_uid=someone.as_uid or None,
        impersonate_groups=tuple(someone.as_groups),
        impersonate_extra={key: tuple(values) for key, values in someone.as_user_extra.items()},
    )


def _with_certificate(config: ClientConfig, user: NamedEntry[User]) -> ClientConfig:
    someone = user.value
    certificate = user.pem("client-certificate", data=someone.client_certificate_data, path=someone.client_certificate)
    if certificate is None:
        return config
    key = user.pem("client-key", data=someone.client_key_data, path=someone.client_key)
    if key is None:
        raise ConfigError(f"{user} has a client-certificate but no key: add client-key or client-key-data.")
    return replace(config, client_cert=certificate, client_key=key)


def _credentials(
    config: ClientConfig, user: NamedEntry[User], cluster: NamedEntry[Cluster], environ: Mapping[str, str]
) -> Credentials:
    """What the user's entry says, by kubectl's rules: something written down goes before an exec plugin."""
    someone = user.value
    if someone.auth_provider is not None:
        name = someone.auth_provider.name
        remedy = AUTH_PROVIDERS.get(name, "ask whoever runs the cluster for one that has exec")
        raise ConfigError(
            f'{user} logs in with the auth-provider "{name}". Exec plugins have replaced those: '
            f"{remedy}; that writes a kubeconfig that works here and in kubectl."
        )
    if (someone.token or someone.token_file) and (someone.username or someone.password):
        raise ConfigError(f"{user} has both a token and a username: remove one of them.")
    try:
        if someone.token_file:
            return TokenFile(user.path(someone.token_file), initial=someone.token)
        if someone.token:
            return BearerToken(someone.token)
    except CredentialsError as error:
        raise ConfigError(f"{user}: {error}") from None
    if someone.username or someone.password:
        return BasicAuth(someone.username, someone.password)
    if someone.exec is not None and config.client_cert is None:
        return _exec_plugin(someone.exec, config, user, cluster, environ)
    return Anonymous()


def _exec_plugin(
    command: ExecCommand,
    config: ClientConfig,
    user: NamedEntry[User],
    cluster: NamedEntry[Cluster],
    environ: Mapping[str, str],
) -> ExecPlugin:
    if not command.command:
        raise ConfigError(f"{user}: exec has no command.")
    if command.api_version not in EXEC_VERSIONS:
        raise ConfigError(
            f'{user}: exec has the apiVersion "{command.api_version}". Write {EXEC_VERSIONS[0]}, '
            "and if the plugin does not know that one, install a newer version of it."
        )
    if command.interactive_mode not in ("Never", "IfAvailable", "Always"):
        if command.interactive_mode or command.api_version == EXEC_VERSIONS[0]:
            raise ConfigError(
                f'{user}: exec has the interactiveMode "{command.interactive_mode}". '
                "Write Never, IfAvailable or Always; IfAvailable is good for most."
            )
        command = msgspec.structs.replace(command, interactive_mode="IfAvailable")
    if os.sep in command.command:
        command = msgspec.structs.replace(command, command=str(user.path(command.command)))
    told = _told_about_cluster(config, cluster) if command.provide_cluster_info else None
    return ExecPlugin(command, source=str(user), cluster=told, environ=environ)


def _told_about_cluster(config: ClientConfig, cluster: NamedEntry[Cluster]) -> dict[str, object]:
    """`spec.cluster` of the ExecCredential that a plugin gets: what it needs to find the cluster itself."""
    told: dict[str, object] = {
        "server": cluster.value.server,
        "tls-server-name": config.tls_server_name,
        "insecure-skip-tls-verify": config.insecure,
        "certificate-authority-data": base64.b64encode(config.ca).decode() if config.ca else None,
        "proxy-url": config.proxy_url,
        "disable-compression": config.disable_compression,
        "config": next((each.extension for each in cluster.value.extensions if each.name == EXEC_EXTENSION), None),
    }
    return {key: value for key, value in told.items() if value is not None and value is not False}
