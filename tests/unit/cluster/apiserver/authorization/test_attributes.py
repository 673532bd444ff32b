"""What is allowed must be what is done: the two ways to read a path and a query agree."""

import asyncio
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unit.cluster.apiserver.servers import JANE, ask, grant, running
from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authorization.attributes import attributes_of
from windvane.cluster.apiserver.request.info import RequestInfo

SECRET = "aGlkZGVu"
THERE = {"metadata": {"name": "there"}, "data": {"k": SECRET}}
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "FROB"]
RULE = {"verbs": ["watch"], "apiGroups": [""], "resources": ["secrets"]}

segments = st.sampled_from(
    ["api", "apis", "v1", "apps", "watch", "proxy", "namespaces", "default", "secrets", "there", "status", "finalize",
     "token", "%64efault", "secret%73", "nodes", "", "scale", "deployments"]
)  # fmt: skip
paths = st.lists(segments, max_size=8).map(lambda parts: "/" + "/".join(parts)) | st.lists(segments, max_size=5).map(
    lambda parts: "/api/v1/" + "/".join(parts)
)
queries = st.lists(
    st.sampled_from(
        [("watch", "true"), ("watch", "false"), ("watch", ""), ("watch", "0"), ("fieldSelector", "metadata.name=mine"),
         ("fieldSelector", "metadata.name=there"), ("timeoutSeconds", "1"), ("limit", "1")]
    ),
    max_size=3,
)  # fmt: skip


requests = st.builds(
    lambda method, path, query: Request(method, path, query, {}, b"{}"), st.sampled_from(METHODS), paths, queries
)


@given(st.lists(requests, min_size=10, max_size=40))
def test_somebody_without_rights_gets_nothing(sent: list[Request]) -> None:
    async def run() -> None:
        async with running() as server:
            await ask(server, "POST /api/v1/namespaces/default/secrets", THERE)
            before = server.store.revision
            for request in sent:
                answer = await server.handle(request, User("nobody"))
                assert SECRET.encode() not in answer.body
                assert answer.stream is None
                assert server.store.revision == before
                assert answer.code == 403, f"{request}: {answer.code}"

    asyncio.run(run())


DISCOVERY = ("APIResourceList", "APIGroupList", "APIVersions", "APIGroup")


@given(st.lists(requests, min_size=10, max_size=40))
def test_the_right_to_watch_is_not_one_to_do_anything_else(sent: list[Request]) -> None:
    async def run() -> None:
        async with running() as server:
            await ask(server, "POST /api/v1/namespaces/default/secrets", THERE)
            await grant(server, "jane", RULE)
            before = server.store.revision
            for request in sent:
                answer = await server.handle(request, JANE)
                assert server.store.revision == before, request
                if answer.stream is not None:
                    await answer.stream.aclose()
                elif answer.code < 300:
                    assert json.loads(answer.body)["kind"] in DISCOVERY, request

    asyncio.run(run())


async def test_a_name_in_a_field_selector_is_that_of_the_first() -> None:
    """A right to one name, asked for with that name first and with another last, shows neither more nor other."""
    async with running() as server:
        for name in ("mine", "other"):
            await ask(server, "POST /api/v1/namespaces/default/secrets", {"metadata": {"name": name}})
        await grant(server, "jane", {**RULE, "verbs": ["list"], "resourceNames": ["mine"]})
        listing = "GET /api/v1/namespaces/default/secrets?fieldSelector=metadata.name=mine"
        answer = await ask(server, f"{listing}&fieldSelector=metadata.name=other", user=JANE)
        assert [item["metadata"]["name"] for item in json.loads(answer.body)["items"]] == ["mine"]
        answer = await ask(server, f"{listing.replace('mine', 'other')}&fieldSelector=metadata.name=mine", user=JANE)
        assert answer.code == 403


async def test_a_right_to_list_is_not_one_to_watch_by_saying_both() -> None:
    async with running() as server:
        await grant(server, "jane", {**RULE, "verbs": ["list"]})
        answer = await ask(server, "GET /api/v1/secrets?watch=false&watch=true", user=JANE)
        assert (answer.code, answer.stream) == (200, None)
        assert (await ask(server, "GET /api/v1/secrets?watch=true&watch=false", user=JANE)).code == 403


@pytest.mark.parametrize("path", ["/apis/g/v1/namespaces/x/status", "/apis/g/v1/namespaces/x/finalize"])
def test_what_is_about_a_namespace(path: str) -> None:
    wanted = attributes_of(RequestInfo.of(Request("GET", path)), JANE)
    assert (wanted.resource, wanted.name, wanted.subresource) == ("namespaces", "x", path.rpartition("/")[2])


async def test_every_kind_is_closed_to_somebody_without_rights() -> None:
    async with running() as server:
        asked = 0
        for type_ in list(server.catalog.types.values()):
            kind = type_.kind
            root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
            place = f"{root}/namespaces/default/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
            for path in (place, f"{root}/{kind.plural}", f"{place}/x", *(f"{place}/x/{s}" for s in kind.subresources)):
                for method in METHODS:
                    answer = await server.handle(Request(method, path, (), {}, b"{}"), User("nobody"))
                    assert answer.code == 403, (method, path)
                    asked += 1
        assert asked > 1000
