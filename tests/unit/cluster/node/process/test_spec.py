"""What a container is begun with: its user, and paths that are rewritten where nothing can be mounted."""

import os
from typing import Any

import pytest

from windvane import ObjectMeta
from windvane.cluster.node.process.launch import Isolation, Mount
from windvane.cluster.node.process.spec import _user, rewritten
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


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("--data=/var/lib/db", "--data=/real/db"),
        ("/var/lib/db/file", "/real/db/file"),
        ("/var/lib/dbx", "/var/lib/dbx"),
        ("x/var/lib/db", "x/var/lib/db"),
        ("/var/lib/db/sub/x", "/real/sub/x"),
    ],
)
def test_paths_of_volumes_are_rewritten_where_they_can_not_be_mounted(text: str, result: str) -> None:
    mounts = [Mount("/real/db", "/var/lib/db"), Mount("/real/sub", "/var/lib/db/sub")]
    assert rewritten(text, mounts) == result
