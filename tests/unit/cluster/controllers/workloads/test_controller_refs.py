"""Who keeps, adopts and releases what."""

from datetime import UTC, datetime
from typing import Any

import pytest

from windvane.api import codec
from windvane.api.selector import Selector
from windvane.cluster.controllers.workloads.controller_refs import claim
from windvane.k8s.core import ConfigMap

WEB = Selector.of({"app": "web"})


def thing(controller: str | None = None, app: str = "web", deleted: bool = False) -> ConfigMap:
    metadata: dict[str, Any] = {"name": "x", "namespace": "default", "uid": "x", "labels": {"app": app}}
    if controller is not None:
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": controller, "controller": True}
        metadata["ownerReferences"] = [owner]
    if deleted:
        metadata["deletionTimestamp"] = datetime(2026, 1, 1, tzinfo=UTC).isoformat()
    return codec.from_wire({"metadata": metadata}, ConfigMap)


def owner(deleted: bool = False) -> ConfigMap:
    made = thing(deleted=deleted)
    made.metadata.uid = "me"
    return made


@pytest.mark.parametrize(
    ("what", "becomes"),
    [
        (thing("me"), "keep"),
        (thing("me", deleted=True), "keep"),
        (thing("me", app="db"), "release"),
        (thing(), "adopt"),
        (thing(deleted=True), None),
        (thing(app="db"), None),
        (thing("another"), None),
        (thing("another", app="db"), None),
    ],
)
def test_what_becomes_of_an_object(what: ConfigMap, becomes: str | None) -> None:
    claimed = claim(owner(), WEB, [what])
    lists = {"keep": claimed.keep, "adopt": claimed.adopt, "release": claimed.release}
    assert {name: found for name, found in lists.items() if found} == ({becomes: [what]} if becomes else {})


def test_an_owner_that_goes_keeps_what_it_has_and_neither_adopts_nor_releases() -> None:
    mine = thing("me")
    claimed = claim(owner(deleted=True), WEB, [mine, thing(), thing("me", app="db")])
    assert (claimed.keep, claimed.adopt, claimed.release) == ([mine], [], [])


def test_a_plain_owner_that_is_no_controller_leaves_an_object_an_orphan() -> None:
    what = thing("another")
    what.metadata.owner_references[0].controller = None
    assert claim(owner(), WEB, [what]).adopt == [what]
