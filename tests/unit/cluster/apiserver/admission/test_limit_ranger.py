"""What a whole pod asks for, where that isn't the sum of its containers; the rest has conformance tests."""

from typing import Any

import pytest

from windvane.cluster.apiserver.admission.limit_ranger import problems_of_pod

AT_MOST_ONE = {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]}}


def container(cpu: str, **rest: Any) -> dict[str, Any]:
    return {"resources": {"limits": {"cpu": cpu}}, **rest}


@pytest.mark.parametrize(
    ("spec", "total"),
    [
        ({"containers": [container("500m"), container("500m")]}, None),
        ({"containers": [container("600m"), container("600m")]}, "1200m"),
        ({"containers": [container("500m")], "initContainers": [container("1"), container("900m")]}, None),
        ({"containers": [container("500m")], "initContainers": [container("2")]}, "2"),
        ({"containers": [container("500m")], "initContainers": [container("1", restartPolicy="Always")]}, "1500m"),
        (
            {
                "containers": [container("100m")],
                "initContainers": [container("600m", restartPolicy="Always"), container("500m")],
            },
            "1100m",
        ),
        ({"containers": [container("2")], "resources": {"limits": {"cpu": "1"}}}, None),
    ],
    ids=["together", "too-much-together", "one-after-another", "one-too-large", "beside", "then-beside", "as-a-whole"],
)
def test_what_a_pod_asks_for_as_a_whole(spec: dict[str, Any], total: str | None) -> None:
    told = [f"maximum cpu usage per Pod is 1, but limit is {total}"] if total else []
    assert problems_of_pod({"spec": spec}, AT_MOST_ONE) == told


def test_a_problem_of_several_containers_is_told_once() -> None:
    least = {"spec": {"limits": [{"type": "Container", "min": {"cpu": "1"}}]}}
    pod: dict[str, Any] = {"spec": {"containers": [{}, {}]}}
    assert problems_of_pod(pod, least) == ["minimum cpu usage per Container is 1.  No request is specified"]
