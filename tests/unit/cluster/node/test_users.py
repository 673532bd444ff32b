"""As whom a container runs: as it asks, where that can be, and else as whoever runs windvane."""

import os
from typing import Any

import pytest

from windvane import ObjectMeta
from windvane.cluster.node.process.launch import Isolation
from windvane.cluster.node.process.spec import _user
from windvane.k8s import core

ASKED = core.PodSecurityContext(run_as_non_root=True, run_as_user=65532, run_as_group=65532, fs_group=65532)


@pytest.mark.parametrize(
    ("who", "isolation", "becomes"),
    [
        (0, "root", (65532, 65532, [65532])),
        (0, "user", (None, None, None)),
        (0, "none", (None, None, None)),
        (1000, "user", (None, None, None)),
    ],
)
def test_only_root_with_a_view_of_its_own_can_be_another_user(
    monkeypatch: pytest.MonkeyPatch, who: int, isolation: Isolation, becomes: Any
) -> None:
    """Elsewhere that user could not enter what is root's, or does not exist: the container would not even start."""
    monkeypatch.setattr(os, "getuid", lambda: who)
    container = core.Container(name="etcd", image="etcd")
    pod = core.Pod(metadata=ObjectMeta(name="p"), spec=core.PodSpec(containers=[container], security_context=ASKED))
    assert _user(pod, container, isolation) == becomes
