"""What the manifests in deploy/ say of the operator in a cluster: its account there, what it may do, how it is started.

Its image and its replicas are of no interest on a desk: here it runs from its sources. Its rights are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from windvane.cli.manifests import Manifest

ACCESS = ("Namespace", "ServiceAccount", "ClusterRole", "Role", "ClusterRoleBinding", "RoleBinding")
"""What is applied, in this order."""
WORKLOADS = ("Deployment", "StatefulSet", "DaemonSet")
NAMESPACE, INSTALL_CRDS = "--namespace", "--install-crds"


@dataclass(frozen=True)
class Account:
    """A ServiceAccount."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, kw_only=True)
class Deployed:
    """What there is."""

    access: Sequence[Manifest] = ()
    left_out: Sequence[Manifest] = ()
    account: Account | None = None
    """None: nothing says which account it has."""
    installs_crds: bool = False
    """Whether it is started with --install-crds."""
    namespaces: Sequence[str] = ()
    """In which it works; all, if there are none."""


def read_deployed(manifests: Iterable[Manifest]) -> Deployed:
    """What manifests say, those of the operator among them."""
    there = list(manifests)
    access = sorted((each for each in there if each.kind in ACCESS), key=lambda each: ACCESS.index(each.kind))
    workload = next((each for each in there if each.kind in WORKLOADS and _account_in(each)), None)
    arguments = _arguments(workload) if workload else []
    return Deployed(
        access=access,
        left_out=[each for each in there if each.kind not in ACCESS],
        account=_account(workload, access),
        installs_crds=INSTALL_CRDS in arguments,
        namespaces=_namespaces(arguments),
    )


def _account(workload: Manifest | None, access: Sequence[Manifest]) -> Account | None:
    if workload is not None:
        return Account(workload.namespace or "default", _account_in(workload))
    accounts = [each for each in access if each.kind == "ServiceAccount"]
    return Account(accounts[0].namespace or "default", accounts[0].name) if len(accounts) == 1 else None


def _account_in(workload: Manifest) -> str:
    return str(_pod_spec(workload).get("serviceAccountName") or "")


def _arguments(workload: Manifest) -> list[str]:
    containers = _pod_spec(workload).get("containers") or [{}]
    return [str(each) for each in [*(containers[0].get("command") or []), *(containers[0].get("args") or [])]]


def _pod_spec(workload: Manifest) -> dict[str, Any]:
    found: Any = workload.wire
    for name in ("spec", "template", "spec"):
        found = (found.get(name) if isinstance(found, dict) else None) or {}
    return found if isinstance(found, dict) else {}


def _namespaces(arguments: Sequence[str]) -> list[str]:
    following = pairwise(arguments)
    values = [value for flag, value in following if flag == NAMESPACE]
    values += [each.partition("=")[2] for each in arguments if each.startswith(f"{NAMESPACE}=")]
    return [name for value in values for each in value.split(",") if (name := each.strip())]
