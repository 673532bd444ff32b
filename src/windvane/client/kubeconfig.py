"""Kubeconfig files, read and merged as kubectl does, with errors that name the file and the entry.

`read` turns one file into a `Kubeconfig`, `merge` joins several, and `Kubeconfig.choose` picks a context
with its cluster and its user. Nothing here connects, and a file that an entry points to is read only
when its contents are asked for: a broken entry that is not used does no harm.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec
import yaml

from windvane.client.exec_plugin import ExecCommand

if TYPE_CHECKING or not yaml.__with_libyaml__:
    from yaml import SafeLoader
else:
    from yaml import CSafeLoader as SafeLoader

# Far more than any kubeconfig needs; small enough that a wrong or hostile file is refused at once.
MAX_BYTES = 16 * 1024 * 1024
MAX_NODES = 1_000_000
MAX_DEPTH = 100

T = TypeVar("T")


class ConfigError(Exception):
    """It isn't clear which cluster to talk to, or as whom; the message says where and what to change."""


class KubeconfigContext(msgspec.Struct, frozen=True):
    """A cluster, the user to be there, and the namespace to work in."""

    cluster: str = ""
    user: str = ""
    namespace: str = ""


class Extension(msgspec.Struct, frozen=True):
    """Anything that other programs keep with an entry, under their own name."""

    name: str
    extension: Any = None


class Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    """Where an API server is and how to recognise it."""

    server: str = ""
    tls_server_name: str = ""
    insecure_skip_tls_verify: bool = False
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    proxy_url: str = ""
    disable_compression: bool = False
    extensions: list[Extension] = []


class AuthProvider(msgspec.Struct, frozen=True):
    """What exec plugins replaced."""

    name: str = ""


class User(msgspec.Struct, frozen=True, rename="kebab"):
    """How to prove who we are, and whom to act as."""

    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    exec: ExecCommand | None = None
    auth_provider: AuthProvider | None = None
    as_: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: list[str] = []
    as_user_extra: dict[str, list[str]] = {}


@dataclass(frozen=True)
class NamedEntry(Generic[T]):
    """One named context, cluster or user, and the file that says so."""

    noun: str
    name: str
    value: T
    file: Path

    def __str__(self) -> str:
        return f'{self.noun} "{self.name}" in {self.file}'

    def path(self, path: str) -> Path:
        """A path that the entry mentions: relative ones start at the kubeconfig's own directory."""
        return self.file.parent / path

    def pem(self, field: str, *, data: str, path: str) -> bytes | None:
        """The PEM of `field`: from its `-data` twin, which is base64, or from the file that it names."""
        if data and path:
            raise ConfigError(f"{self} has both {field} and {field}-data: remove one of them.")
        if data:
            origin = f"{field}-data"
            try:
                pem = base64.b64decode("".join(data.split()), validate=True)
            except (binascii.Error, ValueError):
                raise ConfigError(
                    f"{self}: {origin} is not base64. Write the output of `base64 -w0 FILE`, "
                    f"or name the file with {field} instead."
                ) from None
        elif path:
            file = self.path(path)
            origin = f"{field} {file}"
            try:
                pem = file.read_bytes()
            except OSError as error:
                raise ConfigError(
                    f"{self}: cannot read {origin}: {error.strerror}. "
                    f"Correct the path (relative ones start at {self.file.parent}), or make the file readable."
                ) from error
        else:
            return None
        if b"-----BEGIN " not in pem:
            raise ConfigError(f"{self}: {origin} holds no PEM: it must have a line like -----BEGIN CERTIFICATE-----.")
        return pem


@dataclass(frozen=True)
class Kubeconfig:
    """The entries of one kubeconfig file, or of several merged ones."""

    files: tuple[Path, ...]
    current_context: str
    contexts: Mapping[str, NamedEntry[KubeconfigContext]]
    clusters: Mapping[str, NamedEntry[Cluster]]
    users: Mapping[str, NamedEntry[User]]

    def choose(
        self, context: str | None
    ) -> tuple[NamedEntry[KubeconfigContext], NamedEntry[Cluster], NamedEntry[User] | None]:
        """The named context (or the current one) with its cluster, and its user unless it names none."""
        files = ", ".join(map(str, self.files))
        name = context or self.current_context
        if not name:
            raise ConfigError(
                f"No context is chosen in {files}: current-context is not set. "
                f"Run `kubectl config use-context`, or pass context=. {_existing('contexts', self.contexts)}"
            )
        if name not in self.contexts:
            asked = "" if context else " (the current-context)"
            raise ConfigError(f'No context "{name}"{asked} in {files}. {_existing("contexts", self.contexts)}')
        chosen = self.contexts[name]
        if not chosen.value.cluster:
            raise ConfigError(f"{chosen} names no cluster. {_existing('clusters', self.clusters)}")
        if chosen.value.cluster not in self.clusters:
            raise ConfigError(
                f'{chosen} names the cluster "{chosen.value.cluster}", which does not exist. '
                f"{_existing('clusters', self.clusters)}"
            )
        if chosen.value.user and chosen.value.user not in self.users:
            raise ConfigError(
                f'{chosen} names the user "{chosen.value.user}", which does not exist. {_existing("users", self.users)}'
            )
        return chosen, self.clusters[chosen.value.cluster], self.users.get(chosen.value.user)


def _existing(plural: str, names: Iterable[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in sorted(names))
    return f"The {plural} that exist: {listed}." if listed else f"There are no {plural} at all."


def merge(kubeconfigs: Sequence[Kubeconfig]) -> Kubeconfig:
    """Join kubeconfigs by kubectl's rules: for each name the first file wins, whole entries at a time."""
    contexts: dict[str, NamedEntry[KubeconfigContext]] = {}
    clusters: dict[str, NamedEntry[Cluster]] = {}
    users: dict[str, NamedEntry[User]] = {}
    for kubeconfig in reversed(kubeconfigs):
        contexts.update(kubeconfig.contexts)
        clusters.update(kubeconfig.clusters)
        users.update(kubeconfig.users)
    return Kubeconfig(
        files=tuple(file for kubeconfig in kubeconfigs for file in kubeconfig.files),
        current_context=next((found for kubeconfig in kubeconfigs if (found := kubeconfig.current_context)), ""),
        contexts=contexts,
        clusters=clusters,
        users=users,
    )


def read(file: Path) -> Kubeconfig:
    """Read one kubeconfig file; `FileNotFoundError` if there is none, `ConfigError` for anything else."""
    file = file.absolute()
    try:
        with file.open("rb") as opened:
            text = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise ConfigError(f"Cannot read the kubeconfig {file}: {error.strerror}.") from error
    if len(text) > MAX_BYTES:
        raise ConfigError(f"{file} has more than {MAX_BYTES // 1024**2} MiB: that is not a kubeconfig.")
    return _parse(text, file)


class _File(msgspec.Struct, rename="kebab"):
    kind: str = "Config"
    current_context: str = ""
    contexts: list[dict[str, Any]] = []
    clusters: list[dict[str, Any]] = []
    users: list[dict[str, Any]] = []


def _parse(text: bytes, file: Path) -> Kubeconfig:
    try:
        _refuse_bombs(yaml.parse(text, Loader=_Loader), file)
        content = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        # Not str(error): that may quote the line, and the line may hold a token.
        mark = error.problem_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ConfigError(f"{file} is not valid YAML: {where}{error.problem}.") from None
    except (yaml.YAMLError, ValueError):
        raise ConfigError(f"{file} is not valid YAML: it holds bytes or values that YAML does not allow.") from None
    try:
        parsed = msgspec.convert({} if content is None else _without_nulls(content), _File)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{file} is not a kubeconfig: {_explain(error)}.") from None
    if parsed.kind != "Config":
        raise ConfigError(f'{file} is not a kubeconfig: its kind is "{parsed.kind}", not "Config".')
    return Kubeconfig(
        files=(file,),
        current_context=parsed.current_context,
        contexts=_entries("context", parsed.contexts, KubeconfigContext, file),
        clusters=_entries("cluster", parsed.clusters, Cluster, file),
        users=_entries("user", parsed.users, User, file),
    )


def _entries(noun: str, rows: Sequence[Mapping[str, Any]], kind: type[T], file: Path) -> dict[str, NamedEntry[T]]:
    entries: dict[str, NamedEntry[T]] = {}
    for index, row in enumerate(rows):
        name = row.get("name")
        if not isinstance(name, str) or not name:
            raise ConfigError(
                f"{file}: {noun}s[{index}] needs a name: write `name:` and a string (in quotes if need be)."
            )
        if name in entries:
            raise ConfigError(f'{file} has two {noun}s with the name "{name}": remove or rename one of them.')
        try:
            value = msgspec.convert(row.get(noun, {}), kind)
        except msgspec.ValidationError as error:
            raise ConfigError(f'{noun} "{name}" in {file}: {_explain(error)}.') from None
        entries[name] = NamedEntry(noun, name, value, file)
    return entries


def _explain(error: msgspec.ValidationError) -> str:
    """`Expected "str", got "int" - at "$.exec.args[1]"`, with the place first and with the usual remedy."""
    what, _, where = str(error).partition(" - at `$")
    where = where.strip(".`")
    remedy = ": put the value in quotes" if what.startswith("Expected `str`, got `") else ""
    return f"{where}: {what}{remedy}" if where else f"{what}{remedy}"


def _without_nulls(value: object) -> object:
    """A field that is null counts as absent, as in Go; kubectl itself writes `users: null`."""
    if isinstance(value, dict):
        # What is inside an extension belongs to another program.
        return {
            key: item if key == "extension" else _without_nulls(item) for key, item in value.items() if item is not None
        }
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


class _Loader(SafeLoader):
    """Safe YAML where a date stays the string that was written, as for kubectl: a context may be named so."""


def _as_written(loader: _Loader, node: yaml.ScalarNode) -> str:
    return loader.construct_scalar(node)


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _as_written)


def _refuse_bombs(events: Iterable[yaml.Event], file: Path) -> None:
    """Refuse aliases that unfold into far more than the file holds, or into themselves, and absurd depth.

    kubectl accepts aliases, so we do, but whatever walks the result afterwards walks it unfolded.
    """
    total = 0
    sizes: dict[str, int] = {}  # anchor -> nodes below it, once it is complete
    collections: list[tuple[str | None, int]] = []  # the open ones: their anchor, and the total when they began
    for event in events:
        if isinstance(event, yaml.CollectionStartEvent):
            collections.append((event.anchor, total))
            total += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = collections.pop()
            if anchor:
                sizes[anchor] = total - before
        elif isinstance(event, yaml.ScalarEvent):
            total += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise ConfigError(f"{file}: the alias *{event.anchor} is not the name of anything complete above it.")
            total += sizes[event.anchor]
        if total > MAX_NODES or len(collections) > MAX_DEPTH:
            raise ConfigError(f"{file} is too large or nested too deeply to be a kubeconfig.")
