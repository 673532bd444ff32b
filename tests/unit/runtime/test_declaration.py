"""What is declared about watches: a change is decoded once, however many look at it."""

import pytest

from windvane.api.envelope import Item
from windvane.k8s.core import ConfigMap
from windvane.runtime.declaration import Watch
from windvane.runtime.informers.cache import Change

RAW = b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"k":"%s"}}'


def test_many_watches_look_at_one_decoded_object(monkeypatch: pytest.MonkeyPatch) -> None:
    decoded: list[object] = []
    plain = Item.decode

    def noting(item: Item[ConfigMap]) -> ConfigMap:
        decoded.append(item)
        return plain(item)

    monkeypatch.setattr(Item, "decode", noting)
    before, after = Item(RAW % b"1", ConfigMap), Item(RAW % b"2", ConfigMap)
    watches = [Watch(ConfigMap, to=lambda each: each.metadata.name, seeing=lambda each: each.data) for _ in range(5)]
    assert all(each.concerns(Change(after, before)) for each in watches)
    assert decoded == [before, after]


def test_what_is_looked_at_is_the_same_object_for_all() -> None:
    shown: list[ConfigMap] = []
    before, after = Item(RAW % b"1", ConfigMap), Item(RAW % b"2", ConfigMap)
    for each in [Watch(ConfigMap, to=lambda each: None, seeing=shown.append) for _ in range(2)]:
        each.concerns(Change(after, before))
    assert shown[0] is shown[2]
    assert shown[1] is shown[3]
    assert shown[0] is not shown[1]
