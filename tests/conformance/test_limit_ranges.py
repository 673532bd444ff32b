"""LimitRanges: which there can be, what pods and claims get from them, and what they are refused for."""

import asyncio

from conformance.objects import Thing
from conformance.requests import SECONDS, Answer, Raw, Refused
from windvane import ambient


async def limit(raw: Raw, *limits: Thing, name: str = "limits") -> Answer:
    return await raw("POST limitranges", {"metadata": {"name": name}, "spec": {"limits": limits}})


def claim(size: str) -> Thing:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}}
    return {"metadata": {"name": "c"}, "spec": spec}


def refused(why: str, what: str = "pods p") -> Refused:
    resource, _, name = what.partition(" ")
    return Refused(403, "Forbidden", f'{resource} "{name}" is forbidden: {why}', what)


# What can be said


# What pods get


# What they are refused for


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
