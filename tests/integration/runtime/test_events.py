"""Events: said once, counted when repeated, and never a flood."""

from integration.runtime.websites import website
from integration.runtime.world import World
from windvane import ObjectMeta, ambient
from windvane.k8s.core import Event
from windvane.runtime.events import Recorder


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
