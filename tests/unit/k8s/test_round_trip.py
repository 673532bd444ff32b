"""Every built-in kind comes back from the wire as it was sent."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unit.k8s.builtin import KINDS, full_name
from unit.k8s.instances import structs
from windvane.api import codec
from windvane.api.resource import Object, object_from_wire, object_to_wire

FEW = settings().max_examples // 8
"""Examples of each kind: there are many kinds, and some are large."""


@pytest.mark.parametrize("kind", KINDS, ids=full_name)
@settings(max_examples=FEW, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_an_object_comes_back_as_it_was_sent(kind: type[Object], data: st.DataObject) -> None:
    sent = data.draw(structs(kind))
    assert codec.decode(codec.encode(sent), kind) == sent
    assert object_from_wire(object_to_wire(sent), kind) == sent
