"""Attributes that take long to compute, for one object, hold up nobody who asks another."""

import threading

from windvane.api.lazy_attribute import LazyAttribute
from windvane.api.openapi.keywords import Part
from windvane.cluster.apiserver.admission.webhooks.configuration import Webhook
from windvane.cluster.apiserver.registry.custom import CustomStrategy

GIVE_UP = 20.0


class Sleeper:
    """Something that has a name when it wakes up."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.asked, self.awake = threading.Event(), threading.Event()

    @LazyAttribute
    def name(self) -> str:
        self.asked.set()
        assert self.awake.wait(GIVE_UP)
        return self._name


def test_nobody_waits_for_what_is_computed_for_somebody_else() -> None:
    slow, quick = Sleeper("slow"), Sleeper("quick")
    thread = threading.Thread(target=lambda: slow.name)
    thread.start()
    assert slow.asked.wait(GIVE_UP)
    quick.awake.set()
    assert quick.name == "quick"
    assert thread.is_alive()
    slow.awake.set()
    thread.join()
    assert slow.name == "slow"


def test_it_is_computed_once() -> None:
    sleeper = Sleeper("a")
    sleeper.awake.set()
    assert sleeper.name == "a"
    sleeper.awake.clear()
    assert sleeper.name == "a"


def test_what_threads_compute_for_requests_has_no_lock() -> None:
    found = [
        vars(Part)["properties"],
        vars(Part)["additional"],
        vars(Part)["items"],
        vars(CustomStrategy)["_validator"],
    ]
    assert {type(each) for each in [*found, vars(Webhook)["conditions"]]} == {LazyAttribute}
