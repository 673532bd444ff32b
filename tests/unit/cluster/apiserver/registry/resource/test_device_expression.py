import pytest

from windvane.cluster.apiserver.registry.resource.device_expression import compile_selector

COST = "device.attributes.all(a, {})"


@pytest.mark.parametrize(
    "text",
    [
        "true",
        'device.attributes["a.com"].isReady',
        'cel.bind(gpu, device.attributes["a.com"], gpu.cores >= 4)',
        'device.capacity["a.com"].memory.isGreaterThan(quantity("1Gi"))',
    ],
)
def test_a_selector_comes_to_yes_or_no_or_to_an_attribute(text: str) -> None:
    assert compile_selector(text).problem == ""


@pytest.mark.parametrize("text", ["1", "device", "device.driver", "dyn(true)"])
def test_a_selector_does_not_come_to_anything_else(text: str) -> None:
    assert compile_selector(text).problem.startswith("must evaluate to bool or the unknown type, not ")


def test_attributes_can_not_be_gone_through() -> None:
    problem = compile_selector('device.attributes["a"].b.exists(each, each == 1)').problem
    assert "expression of type 'any' cannot be range of a comprehension" in problem


def test_an_attribute_has_a_size_so_that_what_looks_at_it_has_a_cost() -> None:
    once = compile_selector('device.attributes["a"].b.matches("x")').most_cost
    assert once < compile_selector('device.attributes["a"].b.matches("xxxxxxxx")').most_cost < 100


def test_loops_multiply_the_cost() -> None:
    text, costs = "true", []
    for _ in range(4):
        costs.append(compile_selector(text).most_cost)
        text = COST.format(text)
    assert costs == sorted(set(costs))
    assert costs[-1] > 30 * costs[-2] > 900 * costs[-3]


def test_what_is_too_deep_is_refused_and_not_fatal() -> None:
    assert "recursion" in compile_selector("(" * 5000 + "true" + ")" * 5000).problem
