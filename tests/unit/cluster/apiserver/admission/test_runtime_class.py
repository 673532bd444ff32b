"""Which tolerations of a pod and of its RuntimeClass remain; the rest has conformance tests."""

from typing import Any

import pytest

from windvane.cluster.apiserver.admission.runtime_class import settle

ONE_KEY = {"key": "a", "operator": "Exists"}
ONE_VALUE = {"key": "a", "operator": "Equal", "value": "1"}
EVERYTHING = {"operator": "Exists"}
A_MINUTE = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
AN_HOUR = {"key": "a", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 3600}
OTHER_KEY = {"key": "b", "operator": "Exists"}


@pytest.mark.parametrize(
    ("of_pod", "of_class", "merged"),
    [
        ([ONE_KEY], [OTHER_KEY], [ONE_KEY, OTHER_KEY]),
        ([ONE_KEY], [ONE_KEY], [ONE_KEY]),
        ([ONE_KEY], [ONE_VALUE], [ONE_KEY]),
        ([ONE_VALUE], [ONE_KEY], [ONE_KEY]),
        ([ONE_KEY, OTHER_KEY], [EVERYTHING], [EVERYTHING]),
        ([AN_HOUR], [A_MINUTE], [AN_HOUR]),
        ([A_MINUTE], [ONE_VALUE], [A_MINUTE, ONE_VALUE]),
    ],
)
def test_what_others_cover_is_left_out(of_pod: list[Any], of_class: list[Any], merged: list[Any]) -> None:
    pod = {"spec": {"runtimeClassName": "c", "tolerations": of_pod}}
    settle(pod, {"scheduling": {"tolerations": of_class}})
    assert pod["spec"]["tolerations"] == merged
