"""Who names an owner needs rights to it, where OwnerReferencesPermissionEnforcement is on."""

from typing import Any

import pytest

from conformance.access import Somebody, rule
from conformance.objects import config_map, deployment, pod
from conformance.requests import Raw, Refused

STATUS = {"status": {"conditions": [{"type": "Known", "status": "True"}]}}
WRITES = rule("get create update patch", "configmaps")
DELETES = rule("delete", "configmaps")
UNDELETABLE = "cannot set an ownerRef on a resource you can't delete: , <nil>"
UNSTOPPABLE = (
    "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"
)


def owned(*, name: str = "a", kind: str = "ReplicaSet", group: str = "apps/v1", **rest: Any) -> dict[str, Any]:
    owner = {"apiVersion": group, "kind": kind, "name": "owner", "uid": "1", **rest}
    return config_map(name, metadata={"name": name, "ownerReferences": [owner]})


def refused(why: str) -> Refused:
    return Refused(403, "Forbidden", f'configmaps "a" is forbidden: {why}', "configmaps a")


async def with_rights(owning: Raw, *rules: dict[str, Any]) -> Somebody:
    somebody = Somebody(owning)
    await somebody.may(WRITES, *rules)
    return somebody


async def test_who_makes_something_may_give_it_an_owner(owning: Raw) -> None:
    somebody = await with_rights(owning)
    assert (await somebody("POST configmaps", owned())).code == 201


async def test_who_gives_an_owner_to_something_must_be_allowed_to_delete_it(owning: Raw) -> None:
    somebody = await with_rights(owning)
    assert (await somebody("POST configmaps", config_map("a"))).code == 201
    answer = await somebody("PATCH configmaps/a", {"metadata": owned()["metadata"]}, patch="merge")
    assert answer.refusal == refused(UNDELETABLE)


@pytest.mark.parametrize(
    ("resource", "thing", "part"),
    [("deployments apps", deployment("a"), "/status"), ("pods", pod("a"), ""), ("secrets", config_map("a"), "")],
)
async def test_whatever_it_is_and_through_its_status_too(
    owning: Raw, resource: str, thing: dict[str, Any], part: str
) -> None:
    plural, _, group = resource.partition(" ")
    somebody = await with_rights(owning, rule("get create patch", f"{plural} {plural}/status", group))
    assert (await somebody(f"POST {plural}", thing)).code == 201
    assert (await somebody(f"PATCH {plural}/a{part}", STATUS, patch="merge")).code == 200
    answer = await somebody(f"PATCH {plural}/a{part}", {"metadata": owned()["metadata"]}, patch="merge")
    assert (answer.code, answer.json["message"].partition(" is forbidden: ")[2]) == (403, UNDELETABLE)


async def test_who_takes_an_owner_away_must_be_too(owning: Raw) -> None:
    somebody = await with_rights(owning)
    assert (await somebody("POST configmaps", owned())).code == 201
    answer = await somebody("PATCH configmaps/a", {"metadata": {"ownerReferences": None}}, patch="merge")
    assert answer.refusal == refused(UNDELETABLE)


async def test_who_may_delete_something_may_give_it_an_owner(owning: Raw) -> None:
    somebody = await with_rights(owning, DELETES)
    await somebody("POST configmaps", config_map("a"))
    assert (await somebody("PATCH configmaps/a", {"metadata": owned()["metadata"]}, patch="merge")).code == 200


async def test_what_leaves_owners_alone_takes_no_more_rights(owning: Raw) -> None:
    somebody = await with_rights(owning)
    await somebody("POST configmaps", owned())
    assert (await somebody("PATCH configmaps/a", {"data": {"a": "b"}}, patch="merge")).code == 200


async def test_who_blocks_an_owner_must_be_allowed_to_set_its_finalizers(owning: Raw) -> None:
    somebody = await with_rights(owning, DELETES)
    answer = await somebody("POST configmaps", owned(blockOwnerDeletion=True))
    assert answer.refusal == refused(UNSTOPPABLE)


async def test_who_may_set_the_finalizers_of_an_owner_may_block_it(owning: Raw) -> None:
    somebody = await with_rights(owning, rule("update", "replicasets/finalizers", "apps", resourceNames=["owner"]))
    assert (await somebody("POST configmaps", owned(blockOwnerDeletion=True))).code == 201


async def test_who_may_finalize_anything_may_block_any_owner(owning: Raw) -> None:
    somebody = await with_rights(owning)
    await somebody.may_everywhere(rule("update", "*/finalizers", "*"))
    assert (await somebody("POST configmaps", owned(kind="Unheard", blockOwnerDeletion=True))).code == 201


async def test_an_owner_that_was_not_blocked_is_not_blocked_later_without_the_right(owning: Raw) -> None:
    somebody = await with_rights(owning, DELETES)
    await somebody("POST configmaps", owned())
    blocked = {"metadata": owned(blockOwnerDeletion=True)["metadata"]}
    assert (await somebody("PATCH configmaps/a", blocked, patch="merge")).refusal == refused(UNSTOPPABLE)


async def test_an_owner_that_is_blocked_already_takes_no_more_rights(owning: Raw) -> None:
    await owning.ok("POST configmaps", owned(blockOwnerDeletion=True))
    somebody = await with_rights(owning, DELETES)
    changed = {"metadata": owned(blockOwnerDeletion=True, controller=True)["metadata"]}
    assert (await somebody("PATCH configmaps/a", changed, patch="merge")).code == 200


async def test_the_right_to_an_owner_of_the_whole_cluster_is_one_to_the_whole_cluster(owning: Raw) -> None:
    somebody = await with_rights(owning, rule("update", "nodes/finalizers"))
    node = owned(group="v1", kind="Node", blockOwnerDeletion=True)
    assert (await somebody("POST configmaps", node)).refusal == refused(UNSTOPPABLE)
    await somebody.may_everywhere(rule("update", "nodes/finalizers"))
    assert (await somebody("POST configmaps", node)).code == 201


async def test_an_owner_of_an_unknown_kind_can_not_be_blocked(owning: Raw) -> None:
    somebody = await with_rights(owning, DELETES)
    answer = await somebody("POST configmaps", owned(group="example.com/v1", kind="Unheard", blockOwnerDeletion=True))
    assert answer.refusal == refused(
        "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion example.com/v1 Kind "
        'Unheard: no matches for kind "Unheard" in version "example.com/v1"'
    )


async def test_administrators_may_do_as_they_like(owning: Raw) -> None:
    await owning.ok("POST configmaps", config_map("a"))
    blocked = {"metadata": owned(blockOwnerDeletion=True)["metadata"]}
    await owning.ok("PATCH configmaps/a", blocked, patch="merge")


async def test_unless_asked_for_nobody_guards_owners(raw: Raw) -> None:
    somebody = await with_rights(raw)
    await somebody("POST configmaps", config_map("a"))
    blocked = {"metadata": owned(blockOwnerDeletion=True)["metadata"]}
    assert (await somebody("PATCH configmaps/a", blocked, patch="merge")).code == 200
