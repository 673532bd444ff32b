"""The functions of the examples, called as any test would call them."""

import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from windvane import AdmissionRequest, Denied, ObjectMeta, Quantity
from windvane.k8s.authentication import UserInfo

EXAMPLES = Path(__file__).parents[3] / "examples"


def example(name: str) -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(EXAMPLES / f"{name}.py")))


def test_a_locked_vault_stays() -> None:
    vaults = example("deny_deletion")
    locked = vaults.Vault(metadata=ObjectMeta(name="gold"), spec=vaults.VaultSpec(locked=True))
    with pytest.raises(Denied, match="gold is locked: unlock it first"):
        vaults.check(locked, AdmissionRequest("delete", old=locked))
    unlocked = vaults.Vault(metadata=ObjectMeta(name="gold"))
    vaults.check(unlocked, AdmissionRequest("delete", old=unlocked))


def test_only_keepers_unlock_a_vault() -> None:
    vaults = example("deny_deletion")
    locked = vaults.Vault(metadata=ObjectMeta(name="gold"), spec=vaults.VaultSpec(locked=True))
    unlocked = vaults.Vault(metadata=ObjectMeta(name="gold"))
    with pytest.raises(Denied, match="only members of system:masters unlock one"):
        vaults.check(unlocked, AdmissionRequest("update", old=locked, user=UserInfo(groups=["system:authenticated"])))
    keeper = AdmissionRequest("update", old=locked, user=UserInfo(groups=["system:masters"]))
    vaults.check(unlocked, keeper)
    assert keeper.warnings == ["gold can be deleted now"]


def test_a_workspace_belongs_to_who_creates_it() -> None:
    workspaces = example("fill_in_defaults")
    workspace = workspaces.Workspace(spec=workspaces.WorkspaceSpec(people=4))
    for name in ("jane", "john"):  # the second time, all is there
        workspaces.fill_in(workspace, AdmissionRequest[Any]("create", user=UserInfo(username=name)))
    assert (workspace.spec.owner, workspace.spec.memory) == ("jane", Quantity("2Gi"))


@pytest.mark.parametrize("hosts", [["a"], ["a", "b", "c"]])
def test_no_host_of_a_route_is_lost_there_and_back(hosts: list[str]) -> None:
    routes = example("convert_versions")
    routes.operator.conversions.check(routes.operator.kinds)
    route = routes.Route(metadata=ObjectMeta(name="blog", annotations={"a": "b"}), spec=routes.RouteSpec(hosts=hosts))
    older = routes.down(route)
    assert older.spec.host == "a"
    back = routes.up(older)
    assert (back.spec.hosts, back.metadata.annotations) == (hosts, {"a": "b"})
