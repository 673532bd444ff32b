"""The roles and bindings that the embedded server starts with are those of the real one."""

import json

import pytest

from generate.rbac import TARGET, recorded
from reference.controlplane import ReferenceControlPlane

pytestmark = pytest.mark.reference
LABEL = "kubernetes.io/bootstrapping"


def test_what_was_recorded_is_what_a_real_server_makes(reference: ReferenceControlPlane) -> None:
    wanted = json.loads(TARGET.read_text(encoding="utf-8"))
    found = {
        kind: [item for item in items if LABEL in item["metadata"].get("labels", {})]
        for kind, items in recorded(reference).items()
    }
    assert found == wanted, "run `python tools/generate/rbac.py`"
