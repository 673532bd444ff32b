"""What is sent to bring the embedded API server down gets a clear refusal or costs little, and the server goes on.

What needs a socket, such as slow readers and writers and compressed bodies, is in the unit tests of the HTTP shell.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from urllib.parse import urlencode

import pytest

from windvane.client.transport import Request
from windvane.cluster.apiserver.answer import Answer, User
from windvane.cluster.apiserver.http.filters import enter
from windvane.cluster.apiserver.server import APIServer, open_server

MAPS = "/api/v1/namespaces/default/configmaps"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/abuse.windvane.dev/v1/namespaces/default/widgets"
JSON, YAML = "application/json", "application/yaml"
PATCHES = [f"application/{kind}+json" for kind in ("merge-patch", "strategic-merge-patch", "json-patch")]
WATCHES = 10_000
DEEP = 100_000
MILLION = 1_000_000
MIB = 1024 * 1024

WIDGET = {
    "metadata": {"name": "widgets.abuse.windvane.dev"},
    "spec": {
        "group": "abuse.windvane.dev",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                            "word": {"type": "string", "pattern": "^(a+)+$"},
                        },
                    }
                },
            }
        ],
    },
}


class Asker:
    """Sends requests to one server, as they would come over HTTPS."""

    def __init__(self, server: APIServer) -> None:
        self.server = server

    async def __call__(self, request: str, body: bytes | None = None, content: str = JSON, **query: str) -> Answer:
        return await self.send(request, query, body, content)

    async def send(
        self, request: str, query: Mapping[str, str], body: bytes | None = None, content: str = JSON
    ) -> Answer:
        """As a call, for a query whose parts are no Python names."""
        method, _, path = request.partition(" ")
        sent = Request(method, path, list(query.items()), {"Content-Type": content}, body)
        return await enter(self.server.handle, sent, User("mallory", ("system:masters",)))

    async def is_well(self) -> bool:
        """Whether it still does what it should for others."""
        name = f"well-{self.server.store.revision}"
        made = await self(f"POST {MAPS}", json.dumps({"metadata": {"name": name}}).encode())
        return made.code == 201 and (await self(f"GET {MAPS}/{name}")).code == 200


@pytest.fixture
async def ask() -> AsyncIterator[Asker]:
    """A server with an object that patches change, and a custom kind."""
    server = open_server(None)
    await server.start()
    ask = Asker(server)
    assert (await ask(f"POST {MAPS}", b'{"metadata":{"name":"a"},"data":{"k":"v"}}')).code == 201
    assert (await ask(f"POST {CRDS}", json.dumps(WIDGET).encode())).code == 201
    yield ask
    assert await ask.is_well()
    await server.close()


def widget(spec: str) -> bytes:
    """A custom object, whose spec may be anything."""
    head = '{"apiVersion":"abuse.windvane.dev/v1","kind":"Widget","metadata":{"name":"w"},"spec":'
    return f"{head}{spec}}}".encode()


def bomb() -> bytes:
    """YAML of a few hundred bytes that stands for 10⁹ words."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]" for level in range(1, 9)]
    return ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n" + "\n".join(lines)).encode()


UNREADABLE = {
    "brackets": b"[" * DEEP,
    "brackets that close": b"[" * DEEP + b"]" * DEEP,
    "braces": b'{"a":' * DEEP,
    "braces in an object": b'{"metadata":{"name":"b"},"data":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
    "a number without an end": b'{"metadata":{"name":"b"},"data":{"k":' + b"9" * MILLION + b"}}",
    "a power without an end": b'{"metadata":{"name":"b"},"data":{"k":1e' + b"9" * MILLION + b"}}",
    "not a number": b'{"metadata":{"name":"b","generation":NaN}}',
    "infinity": b'{"metadata":{"name":"b","generation":Infinity}}',
    "half a character": b'{"metadata":{"name":"\\ud800"}}',
}


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_json_that_is_not_meant_to_be_read_is_refused(ask: Asker, body: bytes) -> None:
    assert 400 <= (await ask(f"POST {MAPS}", body)).code < 500


@pytest.mark.parametrize("spec", ["[" * DEEP + "]" * DEEP, '{"a":' * DEEP + "1" + "}" * DEEP, '{"n":NaN}'])
async def test_a_custom_object_that_is_not_meant_to_be_read_is_refused(ask: Asker, spec: str) -> None:
    assert 400 <= (await ask(f"POST {WIDGETS}", widget(spec))).code < 500


async def test_a_number_of_a_million_digits_is_refused_where_any_number_may_stand(ask: Asker) -> None:
    assert 400 <= (await ask(f"POST {WIDGETS}", widget(f'{{"n":{"9" * MILLION}}}'))).code < 500


@pytest.mark.parametrize("content", PATCHES)
@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE.keys())
async def test_a_patch_that_is_not_meant_to_be_read_is_refused(ask: Asker, body: bytes, content: str) -> None:
    assert 400 <= (await ask(f"PATCH {MAPS}/a", body, content)).code < 500


YAML_TRICKS = {
    "aliases of aliases": bomb(),
    "an alias of itself": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: &d {k: *d}",
    "a Python object": b"!!python/object/apply:os.system ['true']",
    "a Python name": b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: !!python/name:os.system }",
    "brackets": b"[" * DEEP,
    "dashes": b"- " * DEEP,
    "questions": b"? " * DEEP,
}


@pytest.mark.parametrize("body", YAML_TRICKS.values(), ids=YAML_TRICKS.keys())
async def test_yaml_that_is_more_than_it_seems_is_refused(ask: Asker, body: bytes) -> None:
    assert 400 <= (await ask(f"POST {MAPS}", body, YAML)).code < 500


@pytest.mark.parametrize("digits", [400, 5_000, MILLION])
async def test_a_number_in_yaml_that_is_too_large_for_one_is_text_as_on_the_real_server(
    ask: Asker, digits: int
) -> None:
    body = b"metadata: {name: b}\ndata: {k: " + b"9" * digits + b"}"
    made = await ask(f"POST {MAPS}", body, YAML)
    assert made.code == 201
    assert json.loads(made.body)["data"] == {"k": "9" * digits}


async def test_a_key_that_comes_twice_is_refused_by_who_is_strict_and_told_to_others(ask: Asker) -> None:
    body = b'{"metadata":{"name":"twice"},"data":{"k":"1","k":"2"}}'
    assert (await ask(f"POST {MAPS}", body, fieldValidation="Strict")).code == 400
    warned = await ask(f"POST {MAPS}", body, fieldValidation="Warn")
    assert warned.code == 201
    assert any("duplicate field" in value for key, value in warned.headers if key == "Warning")


async def test_copies_of_copies_are_refused(ask: Asker) -> None:
    doubling = [{"op": "copy", "from": "/data", "path": f"/data/k{number}"} for number in range(60)]
    answer = await ask(f"PATCH {MAPS}/a", json.dumps(doubling).encode(), PATCHES[2])
    assert 400 <= answer.code < 500
    assert len(answer.body) < MIB


async def test_an_object_that_is_too_large_is_refused(ask: Asker) -> None:
    body = json.dumps({"metadata": {"name": "large"}, "data": {"k": "x" * 3 * MIB}}).encode()
    assert 400 <= (await ask(f"POST {MAPS}", body)).code < 500


async def test_a_pattern_that_others_hang_on_is_matched_in_no_time(ask: Asker) -> None:
    body = json.dumps(
        {
            "apiVersion": "abuse.windvane.dev/v1",
            "kind": "Widget",
            "metadata": {"name": "w"},
            "word": "a" * 100_000 + "b",
        }
    )
    assert (await ask(f"POST {WIDGETS}", body.encode())).code == 422


SELECTORS = {
    "terms": ",".join(f"k{number}=v" for number in range(100_000)),
    "values": f"k in ({','.join(f'v{number}' for number in range(100_000))})",
    "brackets": "k in " + "(" * 100_000,
}


@pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS.keys())
async def test_a_selector_of_a_hundred_thousand_terms_costs_little(ask: Asker, selector: str) -> None:
    listed = await ask(f"GET {MAPS}", labelSelector=selector)
    assert listed.code in (200, 400)
    assert len(listed.body) < 5 * MIB


async def test_a_field_selector_of_a_hundred_thousand_terms_costs_little(ask: Asker) -> None:
    listed = await ask(f"GET {MAPS}", fieldSelector=",".join(["metadata.name=a"] * 100_000))
    assert listed.code in (200, 400)


@pytest.mark.parametrize(
    "token",
    [
        "x" * 100_000,
        "!!",
        "e30",
        "bnVsbA",
        "W10",
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTk5LCJzdGFydCI6ImFcdTAwMDAifQ",
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiIuLi8uLi9zZWNyZXRzL2EifQ",
        "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6OTk5OTk5OTk5OTk5OTk5OTk5OTksInN0YXJ0IjoiYSJ9",
    ],
)
async def test_a_continue_token_that_we_did_not_write_leads_nowhere(ask: Asker, token: str) -> None:
    answer = await ask.send(f"GET {MAPS}", {"limit": "1", "continue": token})
    assert 400 <= answer.code < 500 or answer.code == 504  # a version that is not there yet, as the real server says


@pytest.mark.parametrize("limit", ["-1", "-99999999999999999999", "99999999999999999999", "1e9", "９"])
async def test_a_limit_that_is_none_is_no_limit_or_refused(ask: Asker, limit: str) -> None:
    assert (await ask(f"GET {MAPS}", limit=limit)).code in (200, 400)


@pytest.mark.parametrize("version", ["9" * 20, "9" * MILLION, "-1", "1e3", "１", " 1"])
async def test_a_version_that_can_not_be_is_refused(ask: Asker, version: str) -> None:
    answers = [await ask(f"GET {MAPS}", resourceVersion=version, watch=watch) for watch in ("", "1")]
    answers.append(await ask(f"GET {MAPS}/a", resourceVersion=version))
    body = json.dumps({"metadata": {"name": "a", "resourceVersion": version}})
    answers.append(await ask(f"PUT {MAPS}/a", body.encode()))
    # The real server calls some of them its own error; what counts is that it says what is wrong, and shortly.
    assert all(400 <= answer.code <= 500 and b"Internal error" not in answer.body for answer in answers)


async def test_ten_thousand_watches_are_all_told_and_leave_nothing_behind(ask: Asker) -> None:
    since = json.loads((await ask(f"GET {MAPS}")).body)["metadata"]["resourceVersion"]
    streams = []
    for _ in range(WATCHES):
        answer = await ask(f"GET {MAPS}", watch="1", resourceVersion=since)
        assert answer.stream is not None
        streams.append(answer.stream)
    first = [asyncio.ensure_future(anext(stream)) for stream in streams]
    assert (await ask(f"POST {MAPS}", b'{"metadata":{"name":"news"}}')).code == 201
    assert {json.loads(event)["object"]["metadata"]["name"] for event in set(await asyncio.gather(*first))} == {"news"}
    for stream in streams:
        await stream.aclose()
    assert not ask.server.store._watches


async def test_a_query_of_many_megabytes_is_only_a_query(ask: Asker) -> None:
    assert (await ask(f"GET {MAPS}", labelSelector=urlencode({"k": "v" * 4 * MIB}))).code == 400
