"""History that is forgotten: every way to ask for it gets 410, and a list that was under way can go on as of now."""

from conformance.crds import CRDS, KINDS, until_described, until_discovered, until_listed
from conformance.objects import config_map
from conformance.requests import Raw, Refused
from conformance.servers import Server


async def test_a_forgotten_past_is_gone(raw: Raw, server: Server) -> None:
    for name in "abc":
        await raw.ok("POST configmaps", config_map(name))
    page = await raw.ok("GET configmaps?limit=1")
    then, token = page["metadata"]["resourceVersion"], page["metadata"]["continue"]
    await raw.ok("DELETE configmaps/b")
    server.forget()

    async with raw.watch("configmaps", resourceVersion=then) as events:
        # The answer had to begin before the history was looked at, so it is a success with an error inside.
        assert events.code == 200
        kind, status = await events.next()
        assert kind == "ERROR"
        message = status.pop("message")
        assert message.startswith(f"too old resource version: {then} (")
        assert status == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "reason": "Expired",
            "code": 410,
        }
        assert await events.next_or_end() is None

    exact = await raw(f"GET configmaps?resourceVersion={then}&resourceVersionMatch=Exact")
    assert exact.refusal == Refused(410, "Expired", "The resourceVersion for the provided list is too old.")

    gone = await raw(f"GET configmaps?limit=1&continue={token}")
    assert gone.refusal == Refused(
        410,
        "Expired",
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
        "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
        "modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    )

    # The token in the answer goes on after the same name, but in the list as it is now.
    fresh = gone.json["metadata"]["continue"]
    rest = await raw.ok(f"GET configmaps?limit=5&continue={fresh}")
    assert [item["metadata"]["name"] for item in rest["items"]] == ["c"]
    assert int(rest["metadata"]["resourceVersion"]) > int(then)

    newer = await raw.ok(f"GET configmaps?resourceVersion={then}&resourceVersionMatch=NotOlderThan")
    assert [item["metadata"]["name"] for item in newer["items"]] == ["a", "c"]

    # A real server was started anew for this: it reads custom objects when they are asked for, and lists none before.
    # What it says about their kinds it writes anew, too, and other tests take all of it for granted.
    for crd in KINDS:
        if (await raw(f"GET {CRDS}/{crd['metadata']['name']}")).code == 200:
            await until_listed(raw, crd)
            await until_discovered(raw, crd)
            await until_described(raw, crd)
