"""LimitRanges: which there can be, what pods and claims get from them, and what they are refused for."""

import asyncio
from typing import Any

import pytest

from conformance.objects import Thing, pod
from conformance.requests import SECONDS, Answer, Raw, Refused
from windvane import ambient

CPU = {"type": "Container", "max": {"cpu": "1"}}


async def limit(raw: Raw, *limits: Thing, name: str = "limits") -> Answer:
    return await raw("POST limitranges", {"metadata": {"name": name}, "spec": {"limits": limits}})


def asking(requests: Thing | None = None, limits: Thing | None = None, **more: Any) -> Thing:
    """What a container asks for."""
    return {"resources": {"requests": requests or {}, "limits": limits or {}}, **more}


def claim(size: str) -> Thing:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": "c"}, "spec": spec}


def refused(why: str, what: str = "pods p") -> Refused:
    resource, _, name = what.partition(" ")
    return Refused(403, "Forbidden", f'{resource} "{name}" is forbidden: {why}', what)


# What can be said


@pytest.mark.parametrize(
    ("item", "problems"),
    [
        (
            {"type": "Sometimes"},
            [("type", 'Invalid value: "Sometimes": must be a standard limit type or fully qualified')],
        ),
        ({"type": "example.com/box", "max": {"example.com/x": "1"}}, []),
        (
            {"type": "Pod", "default": {"cpu": "1"}},
            [("default", "Forbidden: may not be specified when `type` is 'Pod'")],
        ),
        (
            {"type": "Pod", "defaultRequest": {"cpu": "1"}},
            [("defaultRequest", "Forbidden: may not be specified when `type` is 'Pod'")],
        ),
        (
            {"type": "PersistentVolumeClaim", "max": {"cpu": "1"}},
            [
                (
                    "limits",
                    "Required value: either minimum or maximum storage value is required, but neither was provided",
                )
            ],
        ),
        (
            {"type": "Container", "min": {"cpu": "2"}, "max": {"cpu": "1"}},
            [
                ("min[cpu]", 'Invalid value: "2": min value 2 is greater than max value 1'),
                ("defaultRequest[cpu]", 'Invalid value: "1": min value 2 is greater than default request value 1'),
                ("default[cpu]", 'Invalid value: "2": min value 2 is greater than default value 1'),
            ],
        ),
        (
            {"type": "Container", "default": {"cpu": "1"}, "defaultRequest": {"cpu": "2"}},
            [
                (
                    "defaultRequest[cpu]",
                    'Invalid value: "2": default request value 2 is greater than default limit value 1',
                )
            ],
        ),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "500m"}},
            [("maxLimitRequestRatio[cpu]", 'Invalid value: "500m": ratio 500m is less than 1')],
        ),
        (
            {"type": "Container", "maxLimitRequestRatio": {"cpu": "5"}, "min": {"cpu": "1"}, "max": {"cpu": "4"}},
            [("maxLimitRequestRatio[cpu]", 'Invalid value: "5": ratio 5 is greater than max/min = 4.000000')],
        ),
        (
            {"type": "Container", "default": {"example.com/x": "2"}, "defaultRequest": {"example.com/x": "1"}},
            [
                (
                    "defaultRequest[example.com/x]",
                    'Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/x',
                )
            ],
        ),
        (
            {"type": "Pod", "max": {"storage": "1"}},
            [("max[storage]", 'Invalid value: "storage": must be a standard resource for containers')],
        ),
    ],
)
async def test_what_a_limit_range_can_say(item: Thing, problems: list[tuple[str, str]], raw: Raw) -> None:
    answer = await limit(raw, item)
    found = answer.json["details"]["causes"] if answer.code == 422 else []
    wanted = [(f"spec.limits[0].{field}", message) for field, message in problems]
    assert [(cause["field"], cause["message"]) for cause in found] == wanted


async def test_each_type_is_limited_once(raw: Raw) -> None:
    answer = await limit(raw, CPU, CPU)
    told = 'spec.limits[1].type: Duplicate value: "Container"'
    assert answer.refusal.message == f'LimitRange "limits" is invalid: {told}'


async def test_what_is_not_said_for_containers_follows(raw: Raw) -> None:
    made = (await limit(raw, {"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1", "memory": "1Gi"}})).json
    assert made["spec"]["limits"] == [
        {
            "type": "Container",
            "max": {"cpu": "2"},
            "min": {"cpu": "1", "memory": "1Gi"},
            "default": {"cpu": "2"},
            "defaultRequest": {"cpu": "2", "memory": "1Gi"},
        }
    ]


# What pods get


async def test_init_containers_and_sidecars_get_defaults(raw: Raw) -> None:
    await limit(raw, {"type": "Container", "default": {"cpu": "2", "memory": "1Gi"}, "defaultRequest": {"cpu": "1"}})
    first = {"name": "first", "image": "i", "restartPolicy": "Always", **asking({"cpu": "500m"}, {"memory": "2Gi"})}
    made = await raw.ok("POST pods", pod(initContainers=[first]))
    everything = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}
    assert made["spec"]["containers"][0]["resources"] == everything
    assert made["spec"]["initContainers"][0]["resources"] == {
        "limits": {"cpu": "2", "memory": "2Gi"},
        "requests": {"cpu": "500m", "memory": "2Gi"},
    }
    told = (
        "LimitRanger plugin set: cpu, memory request for container main; cpu, memory limit for container main; "
        "cpu limit for init container first"
    )
    assert made["metadata"]["annotations"]["kubernetes.io/limit-ranger"] == told


async def test_a_pod_with_amounts_of_its_own_gets_defaults_too(raw: Raw) -> None:
    await limit(raw, {"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}})
    made = await raw.ok("POST pods", pod(resources={"limits": {"cpu": "4"}, "requests": {"cpu": "3"}}))
    assert made["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}
    assert made["spec"]["resources"] == {"limits": {"cpu": "4"}, "requests": {"cpu": "3"}}


async def test_nobody_notes_that_nothing_was_set(raw: Raw) -> None:
    await limit(raw, CPU)
    made = await raw.ok("POST pods", pod(container=asking({"cpu": "1"}, {"cpu": "1"})))
    assert "annotations" not in made["metadata"]


async def test_a_pod_keeps_its_annotations(raw: Raw) -> None:
    await limit(raw, {"type": "Container", "default": {"cpu": "2"}})
    made = await raw.ok("POST pods", pod(metadata={"annotations": {"a": "b"}}))
    told = "LimitRanger plugin set: cpu request for container main; cpu limit for container main"
    assert made["metadata"]["annotations"] == {"a": "b", "kubernetes.io/limit-ranger": told}


# What they are refused for


async def test_a_limit_is_for_nothing_but_its_type(raw: Raw) -> None:
    await limit(raw, CPU, {"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}})
    why = "maximum cpu usage per Container is 1, but limit is 2"
    assert (await raw("POST pods", pod(container=asking(limits={"cpu": "2"})))).refusal == refused(why)
    await raw.ok("POST pods", pod(container=asking(limits={"cpu": "1"})))
    await raw.ok("POST persistentvolumeclaims", claim("2Gi"))


async def test_a_name_that_is_made_up_is_told(raw: Raw) -> None:
    await limit(raw, CPU)
    nameless = {**pod(container=asking({}, {"cpu": "2"})), "metadata": {"generateName": "web-"}}
    answer = await raw("POST pods", nameless)
    assert answer.code == 403
    name = answer.json["details"]["name"]
    assert name.startswith("web-")
    assert len(name) == len("web-12345")


@pytest.mark.parametrize(
    ("item", "container", "why"),
    [
        (
            {"max": {"cpu": "1"}},
            asking({}, {"cpu": "1001m"}),
            "maximum cpu usage per Container is 1, but limit is 1001m",
        ),
        (
            {"min": {"cpu": "100m"}},
            asking({"cpu": "99m"}),
            "minimum cpu usage per Container is 100m, but request is 99m",
        ),
        (
            {"min": {"cpu": "1"}},
            asking({"cpu": "1"}, {"cpu": "1"}),
            "",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            asking({"cpu": "100m"}, {"cpu": "250m"}),
            "cpu max limit to request ratio per Container is 2, but provided ratio is 2.500000",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "1500m"}},
            asking({"cpu": "3"}, {"cpu": "5"}),
            "cpu max limit to request ratio per Container is 1500m, but provided ratio is 1.666667",
        ),
        ({"maxLimitRequestRatio": {"cpu": "2"}}, asking({"cpu": "1"}, {"cpu": "2"}), ""),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            {},
            "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
        ),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            asking({"cpu": "1"}),
            "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0",
        ),
        (
            {"max": {"example.com/gpu": "1"}},
            asking({}, {"example.com/gpu": "2"}),
            "maximum example.com/gpu usage per Container is 1, but limit is 2",
        ),
        (
            {"max": {"ephemeral-storage": "1Gi"}},
            asking({}, {"ephemeral-storage": "2Gi"}),
            "maximum ephemeral-storage usage per Container is 1Gi, but limit is 2Gi",
        ),
        ({"min": {"cpu": "1m"}}, asking({"cpu": "1m"}), ""),
    ],
)
@pytest.mark.parametrize("place", ["containers", "initContainers"])
async def test_what_a_container_is_refused_for(place: str, item: Thing, container: Thing, why: str, raw: Raw) -> None:
    await limit(raw, {"type": "Container", **item})
    fine: Thing = {"resources": {}}
    for name, ratio in (item.get("maxLimitRequestRatio") or {}).items():
        fine = asking({name: "1"}, {name: ratio})
    for name, amount in {**(item.get("max") or {}), **(item.get("min") or {})}.items():
        fine = asking({name: amount}, {name: amount})
    if place == "containers":
        answer = await raw("POST pods", pod(container=container))
    else:
        answer = await raw("POST pods", pod(container=fine, initContainers=[{"name": "i", "image": "i", **container}]))
    if why:
        assert answer.refusal == refused(why)
    else:
        assert answer.code == 201, answer.body.decode()


@pytest.mark.parametrize(
    ("item", "spec", "why"),
    [
        (
            {"max": {"cpu": "1"}},
            {"initContainers": [{"name": "i", "image": "i", **asking({}, {"cpu": "2"})}]},
            "maximum cpu usage per Pod is 1, but limit is 2",
        ),
        (
            {"max": {"cpu": "1"}},
            {"initContainers": [{"name": "i", "image": "i", "restartPolicy": "Always", **asking({}, {"cpu": "900m"})}]},
            "maximum cpu usage per Pod is 1, but limit is 1100m",
        ),
        ({"max": {"cpu": "1"}}, {"resources": {"limits": {"cpu": "1"}}}, ""),
        (
            {"max": {"cpu": "1"}},
            {"resources": {"limits": {"cpu": "2"}}},
            "maximum cpu usage per Pod is 1, but limit is 2",
        ),
        ({"min": {"memory": "1Gi"}}, {}, "minimum memory usage per Pod is 1Gi.  No request is specified"),
        ({"max": {"memory": "1Gi"}}, {}, "maximum memory usage per Pod is 1Gi.  No limit is specified"),
    ],
)
async def test_what_a_pod_is_refused_for(item: Thing, spec: Thing, why: str, raw: Raw) -> None:
    await limit(raw, {"type": "Pod", **item})
    answer = await raw("POST pods", pod(container=asking({"cpu": "100m"}, {"cpu": "200m"}), **spec))
    if why:
        assert answer.refusal == refused(why)
    else:
        assert answer.code == 201, answer.body.decode()


async def test_what_is_wrong_is_told_in_the_order_of_the_limits(raw: Raw) -> None:
    await limit(raw, {"type": "Pod", "max": {"cpu": "1"}}, {"type": "Container", "max": {"memory": "1Gi"}})
    why = (
        "[maximum cpu usage per Pod is 1, but limit is 2, maximum memory usage per Container is 1Gi, but limit is 2Gi]"
    )
    asked = asking(limits={"cpu": "2", "memory": "2Gi"})
    assert (await raw("POST pods", pod(container=asked))).refusal == refused(why)


async def test_a_change_of_a_pod_is_let_be(raw: Raw) -> None:
    await raw.ok("POST pods", pod(container=asking({}, {"cpu": "2"})))
    await limit(raw, CPU)
    await raw.ok("PATCH pods/p", {"metadata": {"labels": {"a": "b"}}}, patch="merge")


async def test_a_resize_keeps_to_limits(raw: Raw) -> None:
    await limit(raw, CPU)
    await raw.ok("POST pods", pod(container=asking({"cpu": "500m"}, {"cpu": "1"})))
    more = {"spec": {"containers": [{"name": "main", **asking({}, {"cpu": "2"})}]}}
    answer = await raw("PATCH pods/p/resize", more, patch="strategic")
    assert answer.refusal == refused("maximum cpu usage per Container is 1, but limit is 2")


@pytest.mark.parametrize(
    ("item", "size", "why"),
    [
        (
            {"min": {"storage": "2Gi"}},
            "1Gi",
            "minimum storage usage per PersistentVolumeClaim is 2Gi, but request is 1Gi",
        ),
        (
            {"max": {"storage": "2Gi"}},
            "3Gi",
            "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi",
        ),
        ({"min": {"storage": "1Gi"}, "max": {"storage": "2Gi"}}, "2Gi", ""),
    ],
)
async def test_what_a_claim_is_refused_for(item: Thing, size: str, why: str, raw: Raw) -> None:
    await limit(raw, {"type": "PersistentVolumeClaim", **item})
    answer = await raw("POST persistentvolumeclaims", claim(size))
    if why:
        assert answer.refusal == refused(why, "persistentvolumeclaims c")
    else:
        assert answer.code == 201, answer.body.decode()


async def test_a_claim_that_is_there_keeps_to_limits_when_it_is_changed(raw: Raw) -> None:
    await raw.ok("POST persistentvolumeclaims", claim("3Gi"))
    await limit(raw, {"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}})
    labels = {"metadata": {"labels": {"a": "b"}}}
    why = "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"
    async with asyncio.timeout(SECONDS):
        # A real server reads LimitRanges from a cache.
        while (answer := await raw("PATCH persistentvolumeclaims/c?dryRun=All", labels, patch="merge")).code == 200:
            await ambient.sleep(0.05)
    assert answer.refusal == refused(why, "persistentvolumeclaims c")
    # One that is going is let go.
    await raw.ok("DELETE persistentvolumeclaims/c")
    await raw.ok("PATCH persistentvolumeclaims/c", labels, patch="merge")
