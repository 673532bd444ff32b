"""How much a device has to give, and how much of it may be asked for."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from windvane.api.json_value import Wire
from windvane.api.quantity import Quantity
from windvane.cluster.apiserver.registry.resource.lists import check_set
from windvane.cluster.apiserver.registry.validation.problems import Problems

MOST_VALUES = 10


def capacity_of_one(capacity: Wire, path: str, problems: Problems) -> None:
    """Check a capacity of a device that only one claim can have: there is nothing to ask for."""
    if capacity.get("requestPolicy") is not None:
        problems.forbidden(f"{path}.requestPolicy", "allowMultipleAllocations must be true")


def capacity_of_many(capacity: Wire, path: str, problems: Problems) -> None:
    """Check a capacity of which claims can have parts."""
    if (policy := capacity.get("requestPolicy")) is None:
        return
    here, whole, default = f"{path}.requestPolicy", Quantity(capacity.get("value") or "0"), policy.get("default")
    values, between = policy.get("validValues") or [], policy.get("validRange")
    if values and between is not None:
        rule = "exactly one policy can be specified"
        both = 'cannot specify "validValues" and "validRange" at the same time'
        problems.forbidden(here, f"{rule}, {both}")
    elif values:
        if default is None:
            problems.required(f"{here}.default", "required when validValues is defined")
        else:
            _values([Quantity(each) for each in values], Quantity(default), whole, f"{here}.validValues", problems)
    elif between is not None:
        if default is None:
            problems.required(f"{here}.default", "required when validRange is defined")
        else:
            _range(between, Quantity(default), whole, f"{here}.validRange", problems)


def _values(values: Sequence[Quantity], default: Quantity, whole: Quantity, path: str, problems: Problems) -> None:
    for index, (before, value) in enumerate(pairwise(values), start=1):
        if before > value:
            problems.invalid(f"{path}[{index}]", str(value), "values must be sorted in ascending order")

    def check(value: Quantity, where: str, problems: Problems) -> None:
        if value > whole:
            problems.invalid(where, str(value), f"option is larger than capacity value: {whole}")

    check_set(values, MOST_VALUES, check, lambda value: str(int(value)), path, problems)
    if len(values) > MOST_VALUES or default not in values:
        problems.invalid(path, str(default), "default value is not valid according to the requestPolicy")


def _range(between: Wire, default: Quantity, whole: Quantity, path: str, problems: Problems) -> None:
    if between.get("min") is None:
        problems.required(f"{path}.min", "required when validRange is defined")
        return
    least = Quantity(between["min"])
    most, step = (None if (stated := between.get(field)) is None else Quantity(stated) for field in ("max", "step"))
    tell = partial(_tell, problems)
    tell(f"{path}.min", least > whole, least, f"min is larger than capacity value: {whole}")
    tell(f"{path}.min", default < least, default, f"default is less than min: {least}")
    if most is not None:
        tell(f"{path}.max", least > most, least, f"min is larger than max: {most}")
        tell(f"{path}.max", most > whole, most, f"max is larger than capacity value: {whole}")
        tell(f"{path}.max", default > most, default, f"default is more than max: {most}")
    if step is not None:
        one = least + step
        tell(f"{path}.step", one > whole, step, f"one step {one} is larger than capacity value: {whole}")
        for value in (default, *([most] if most is not None else [])):
            off = int(step) != 0 and (int(value) - int(least)) % int(step) != 0
            tell(f"{path}.step", off, value, f"value is not a multiple of a given step ({step}) from ({least})")


def _tell(problems: Problems, path: str, is_wrong: bool, value: Quantity, why: str) -> None:
    if is_wrong:
        problems.invalid(path, str(value), why)
