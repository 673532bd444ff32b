"""What an operator declares is asked by API servers, with no configuration written by hand."""

import pytest

from conformance.requests import Raw
from conformance.servers import Server
from integration.webhook.declared import convert
from integration.webhook.world import Site, World
from windvane import (
    AdmissionRequest,
    Denied,
    Forbidden,
    InternalError,
    Invalid,
    ambient,
    dynamic,
    kind_of,
    object_to_wire,
)
from windvane.webhook import author_call
from windvane.webhook.lifecycle import serve_webhooks


async def test_what_is_missing_is_filled_in(world: World) -> None:
    @world.operator.default(world.site)
    def fill_in(site: Site) -> None:
        site.spec.region = site.spec.region or "eu"

    async with world.serving():
        assert (await world.create("blog")).spec.region == "eu"
        assert (await world.create("shop", region="us")).spec.region == "us"


async def test_what_has_its_default_is_shown_in_the_version_that_it_was_not_written_in(world: World) -> None:
    convert(world)
    async with world.serving():
        await world.create("blog", hosts=["a.example"])
        shown = await world.client.get(dynamic(kind_of(world.old_site)), "blog")
        assert shown["spec"] == {"host": "a.example", "weight": 5}


async def test_what_is_wrong_is_denied_in_the_functions_words(world: World) -> None:
    @world.operator.validate(world.site)
    def check(site: Site, request: AdmissionRequest[Site]) -> None:
        if request.old and request.old.spec.region != site.spec.region:
            raise Denied("it can't be changed", field="spec.region")
        if site.spec.region == "moon":
            raise Denied("nobody lives there")

    async with world.serving():
        site = await world.create("blog", region="eu")
        site.spec.region = "us"
        with pytest.raises(Invalid, match=r"spec\.region: .*it can't be changed"):
            await world.client.replace(site)
        with pytest.raises(Forbidden, match="nobody lives there"):
            await world.create("shop", region="moon")


async def test_a_warning_reaches_who_asked(world: World, api_server: Server) -> None:
    @world.operator.validate(world.site)
    def check(site: Site, request: AdmissionRequest[Site]) -> None:
        request.warn("an even number of hosts survives no more failures than one less")

    async with world.serving(), Raw(api_server.url, api_server.ca_file, api_server.token) as raw:
        path = f"/apis/{world.group}/v1/namespaces/{world.client.namespace}/sites"
        answer = await raw(f"POST {path}", object_to_wire(world.new("blog")))
        assert answer.code == 201
        assert answer.warnings == ['299 - "an even number of hosts survives no more failures than one less"']


async def test_who_can_not_serve_does_not_wait_for_ever(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("windvane.webhook.tls.load_certificate", fail)
    world.operator.validate(world.site)(lambda site: None)
    with pytest.raises(ExceptionGroup, match="unhandled errors"):
        async with serve_webhooks(world.operator, world.client):
            pass


async def test_a_function_that_fails_denies_and_the_next_question_is_answered(world: World) -> None:
    @world.operator.validate(world.site)
    def check(site: Site) -> None:
        if site.spec.region == "moon":
            raise ZeroDivisionError("secret")

    async with world.serving():
        with pytest.raises((Forbidden, InternalError), match="ZeroDivisionError") as refused:
            await world.create("shop", region="moon")
        assert "secret" not in str(refused.value)
        await world.create("shop", region="eu")


@pytest.mark.parametrize("failure_policy", ["Fail", "Ignore"])
async def test_a_function_that_takes_too_long_is_not_waited_for(
    world: World, failure_policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(author_call, "FOR_THE_FUNCTION", 0.05)  # and so is the wait: on a busy machine words take time

    @world.operator.validate(world.site, timeout=20, failure_policy=failure_policy)  # type: ignore[arg-type]
    async def check(site: Site) -> None:
        if site.spec.region == "moon":
            await ambient.sleep(3600)

    async with world.serving():
        if failure_policy == "Ignore":
            assert (await world.create("shop", region="moon")).metadata.uid
        else:
            with pytest.raises((Forbidden, InternalError), match="longer than 20 s"):
                await world.create("shop", region="moon")
