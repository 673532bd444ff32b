"""Simulated containers: how a pod's annotation says that they behave."""

import pytest

from unit.cluster.node.material import pod
from windvane.cluster.node.simulated.runtime import ANNOTATION, Behaviour, behaviour_of


@pytest.mark.parametrize(
    ("words", "behaviour"),
    [
        ("", Behaviour()),
        ("exit=3", Behaviour(exit=3, told=True)),
        ("after=1m", Behaviour(exit=0, after=60, told=True)),
        ("exit=1 after=5s ready-after=2s", Behaviour(exit=1, after=5, ready_after=2, told=True)),
        ("ready-after=never", Behaviour(ready_after=float("inf"))),
    ],
)
def test_an_annotation_says_how_a_simulated_pod_behaves(words: str, behaviour: Behaviour) -> None:
    made = pod()
    made.metadata.annotations[ANNOTATION] = words
    assert behaviour_of(made) == behaviour
