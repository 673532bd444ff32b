"""Events: said once, counted when repeated, and never a flood."""

from integration.runtime.websites import website
from integration.runtime.world import World
from windvane import ObjectMeta, ambient
from windvane.k8s.core import ConfigMap, Event
from windvane.runtime.context import Context
from windvane.runtime.observability.event_recorder import EventRecorder, Recorder
from windvane.runtime.operator import Operator


async def recorder(world: World) -> Recorder:
    made = Recorder("websites")
    world.start(made.run())
    return made


async def test_the_same_words_again_are_counted(world: World) -> None:
    tell = (await recorder(world)).about(website(), world.admin)
    for _ in range(3):
        tell("Scaled", "3 to 5", "Normal")
    await ambient.sleep(1)
    [event] = await world.admin.list(Event)
    assert (event.reason, event.message, event.count) == ("Scaled", "3 to 5", 3)
    assert (event.involved_object.kind, event.involved_object.name) == ("Website", "blog")


async def test_a_flood_about_one_object_is_dropped_and_counted(world: World) -> None:
    made = await recorder(world)
    tell = made.about(website(), world.admin)
    for number in range(100):
        tell("Noise", f"number {number}", "Normal")
    await ambient.sleep(1)
    assert len(await world.admin.list(Event)) == 25
    assert made.dropped == 75
    other = website("shop")
    other.metadata = ObjectMeta(name="shop", namespace="default", uid="another")
    made.about(other, world.admin)("Scaled", "3 to 5", "Normal")
    await ambient.sleep(1)
    assert len(await world.admin.list(Event)) == 26, "one object's noise is not another's"


async def test_an_event_that_is_gone_is_said_anew(world: World) -> None:
    tell = (await recorder(world)).about(website(), world.admin)
    tell("Scaled", "3 to 5", "Normal")
    await ambient.sleep(1)
    [event] = await world.admin.list(Event)
    await world.admin.delete(Event, event.metadata.name)
    tell("Scaled", "3 to 5", "Normal")
    await ambient.sleep(1)
    [again] = await world.admin.list(Event)
    assert again.count == 1


async def test_what_two_components_say_in_the_same_words_are_two_events_with_a_budget_each(world: World) -> None:
    made = await recorder(world)
    for _ in range(2):
        made.about(website(), world.admin)("Scaled", "3 to 5", "Normal")
        made.about(website(), world.admin, "website-scaler")("Scaled", "3 to 5", "Normal")
    for number in range(100):
        made.about(website(), world.admin)("Noise", f"number {number}", "Normal")
    made.about(website(), world.admin, "website-scaler")("Scaled", "3 to 5", "Normal")
    await ambient.sleep(1)
    events = await world.admin.list(Event)
    assert {each.reporting_component: each.count for each in events if each.reason == "Scaled"} == {
        "websites": 2,
        "website-scaler": 3,
    }


async def test_a_node_says_which_one_it_is(world: World) -> None:
    made = await recorder(world)
    made.host = "node-1"
    made.about(website(), world.admin)("Started", "it runs", "Normal")
    await ambient.sleep(1)
    [event] = await world.admin.list(Event)
    assert event.source is not None
    assert (event.source.component, event.source.host) == ("websites", "node-1")
    assert (event.reporting_component, event.reporting_instance) == ("websites", "node-1")


async def test_the_events_of_a_controller_come_from_where_it_says_else_from_the_operator(world: World) -> None:
    operator = Operator("shop")

    @operator.controller(ConfigMap, events_from="price-controller")
    async def prices(config: ConfigMap, ctx: Context) -> None:
        if config.metadata.name == "prices":
            ctx.event("Changed", "prices are new")

    @operator.controller(ConfigMap, name="stock")
    async def stock(config: ConfigMap, ctx: Context) -> None:
        if config.metadata.name == "prices":
            ctx.event("Counted", "there is enough")

    async def run() -> None:
        await operator.run(world.client())

    world.start(run())
    await world.admin.create(ConfigMap(metadata=ObjectMeta(name="prices")))
    await ambient.sleep(5)
    events = {each.reason: each for each in await world.admin.list(Event)}
    sources = {reason: each.source.component for reason, each in events.items() if each.source is not None}
    assert sources == {"Changed": "price-controller", "Counted": "shop"}
    assert {reason: each.reporting_component for reason, each in events.items()} == sources


async def test_something_is_said_outside_of_passes_as_a_component_of_its_own(world: World) -> None:
    recorder = EventRecorder(world.admin, "watchman", host="node-1")
    recorder.event(website(), "Rebooted", "the kernel is another one", type="Warning")
    world.start(recorder.run())
    await ambient.sleep(1)
    [event] = await world.admin.list(Event)
    assert (event.type, event.reason, event.message) == ("Warning", "Rebooted", "the kernel is another one")
    assert (event.reporting_component, event.reporting_instance) == ("watchman", "node-1")
    assert event.involved_object.name == "blog"
