"""`$(NAME)`, as Kubernetes expands it."""

import pytest

from windvane.cluster.node.process.expansion import expand


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("$(A)", "1"),
        ("a$(A)b$(B)c", "a1b2c"),
        ("$$(A)", "$(A)"),
        ("$$$(A)", "$1"),
        ("$(NOBODY)", "$(NOBODY)"),
        ("$A $", "$A $"),
        ("$(A", "$(A"),
        ("$()", "$()"),
        ("no dollar", "no dollar"),
    ],
)
def test_names_are_expanded_as_kubernetes_does(text: str, expanded: str) -> None:
    assert expand(text, {"A": "1", "B": "2"}) == expanded
