"""Spans: one for each pass, and below it one for each request that the pass sent."""

import sys
from collections.abc import Sequence

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from integration.runtime.test_controller import page_of, settled, start
from integration.runtime.websites import Hook, Website, Websites, config_map, website
from integration.runtime.world import World
from windvane.runtime.context import Context
from windvane.runtime.observability.tracing import tracer
from windvane.runtime.outcome import Fatal


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    """Where spans go: an SDK that keeps them."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


async def first_pass(world: World, exported: InMemorySpanExporter, hook: Hook | None = None) -> list[ReadableSpan]:
    """The span of the first pass, and those below it, in the order they began."""
    websites = Websites()
    websites.hook = hook
    running = await start(world, websites)
    await world.admin.create(website())
    await settled(world, running)
    spans = exported.get_finished_spans()
    first = next(span for span in spans if span.parent is None)
    below = [span for span in spans if span.parent is not None and span.parent == first.context]
    return [first, *sorted(below, key=lambda span: span.start_time or 0)]


def without_id(span: ReadableSpan) -> dict[str, object]:
    attributes = dict(span.attributes or {})
    assert len(str(attributes.pop("windvane.reconcile"))) == 8
    return dict(attributes)


def requests(spans: Sequence[ReadableSpan]) -> list[tuple[object, ...]]:
    names = ("http.request.method", "url.path", "http.response.status_code", "error.type")
    return [tuple((span.attributes or {}).get(name) for name in names) for span in spans]


async def test_a_pass_is_a_span(world: World, exported: InMemorySpanExporter) -> None:
    first, *_ = await first_pass(world, exported)
    assert first.name == "reconcile Website"
    assert without_id(first) == {
        "k8s.namespace.name": "default",
        "windvane.controller": "websites.demo.windvane.dev",
        "windvane.object.name": "blog",
        "windvane.trigger": "Website blog came",
        "windvane.result": "done",
    }
    assert first.status.status_code is StatusCode.UNSET


async def test_each_request_of_a_pass_is_a_span_below_its_own(world: World, exported: InMemorySpanExporter) -> None:
    _, *below = await first_pass(world, exported)
    assert requests(below) == [
        ("PATCH", "/api/v1/namespaces/default/configmaps/blog", 201, None),
        ("PATCH", "/apis/demo.windvane.dev/v1/namespaces/default/websites/blog/status", 200, None),
    ]
    assert {(span.name, span.kind) for span in below} == {("PATCH", SpanKind.CLIENT)}


async def test_watches_are_not_in_any_span(world: World, exported: InMemorySpanExporter) -> None:
    await first_pass(world, exported)
    assert {span.name for span in exported.get_finished_spans()} == {"reconcile Website", "PATCH"}


async def test_a_pass_that_fails_is_an_error_with_its_exception(world: World, exported: InMemorySpanExporter) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        raise RuntimeError("out of paper")

    first, *_ = await first_pass(world, exported, hook)
    assert without_id(first)["windvane.result"] == "failed"
    assert (first.status.status_code, first.status.description) == (StatusCode.ERROR, "RuntimeError: out of paper")
    (event,) = first.events
    assert (event.attributes or {})["exception.message"] == "out of paper"


async def test_a_pass_that_can_not_work_is_an_error(world: World, exported: InMemorySpanExporter) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        raise Fatal("no such page")

    first, *_ = await first_pass(world, exported, hook)
    assert without_id(first)["windvane.result"] == "fatal"
    assert (first.status.status_code, first.status.description) == (StatusCode.ERROR, "no such page")


async def test_a_request_that_is_refused_is_an_error(world: World, exported: InMemorySpanExporter) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        await ctx.apply(config_map("no_such_name", {}))

    _, refused, *_ = await first_pass(world, exported, hook)
    assert requests([refused]) == [("PATCH", "/api/v1/namespaces/default/configmaps/no_such_name", 422, "422")]
    assert refused.status.status_code is StatusCode.ERROR


async def test_a_request_that_meets_no_server_is_an_error(world: World, exported: InMemorySpanExporter) -> None:
    async def hook(site: Website, ctx: Context) -> None:
        world.weather.down = True

    _, lost, *_ = await first_pass(world, exported, hook)
    assert requests([lost]) == [("PATCH", "/api/v1/namespaces/default/configmaps/blog", None, "Unreachable")]
    assert lost.status.status_code is StatusCode.ERROR


async def test_without_the_package_there_are_no_spans(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry", None)  # as if it were not installed
    assert tracer() is None
    running = await start(world, Websites())
    await world.admin.create(website())
    await settled(world, running)
    assert await page_of(world) == "hello"
