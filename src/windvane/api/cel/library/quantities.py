"""Quantities: `quantity(self.memory).isLessThan(quantity('1Gi'))`."""

import re
from typing import Any

from windvane.api.cel.functions import Functions, member, plain
from windvane.api.cel.types import BOOL, DOUBLE, INT, STRING, struct
from windvane.api.cel.values import CelError, Opaque, no_overload
from windvane.api.quantity import Quantity

QUANTITY = struct("kubernetes.Quantity")
_SHAPE = re.compile(r"[+-]?(?=[0-9.])[0-9]*(?:\.[0-9]*)?([eEinumkKMGTP]*[-+]?[0-9]*)")
_WRONG_SHAPE = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_NOTHING = frozenset({"+", "-", ".", "+.", "-."})  # which the server takes for zero
_PARTIAL = re.compile(r"\.[0-9]|[num]$|[eE]-")
_WRONG_SUFFIX = "unable to parse quantity's suffix"


class Amount(Opaque):
    """A quantity; the server doesn't compare anything with one that was computed.

    Whether it counts as whole depends on how it was written: 1000m is not.
    """

    __slots__ = ("computed", "quantity", "whole")
    type_name = "kubernetes.Quantity"

    def __init__(self, quantity: Quantity, *, whole: bool = True, computed: bool = False) -> None:
        self.quantity = quantity
        self.whole = whole
        self.computed = computed

    def same(self, other: Any) -> bool:
        if other.computed:
            raise no_overload()
        return bool(self.quantity == other.quantity)


def _quantity(text: str) -> Amount:
    if text in _NOTHING:
        return Amount(Quantity(0))
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise CelError(_WRONG_SHAPE)
    try:
        return Amount(Quantity(text), whole=_PARTIAL.search(text) is None)
    except ValueError:
        raise CelError(_WRONG_SUFFIX if shape[1] else _WRONG_SHAPE) from None


def _is_quantity(text: str) -> bool:
    try:
        _quantity(text)
    except CelError:
        return False
    return True


def _compare(one: Amount, other: Amount) -> int:
    return int(one.quantity > other.quantity) - int(one.quantity < other.quantity)


def _is_integer(amount: Amount) -> bool:
    return amount.whole and -(2**63) <= amount.quantity.value < 2**63


def _as_integer(amount: Amount) -> int:
    if not _is_integer(amount):
        raise CelError("cannot convert value to integer")
    return int(amount.quantity)


def _sum(one: Amount, other: Amount | int) -> Amount:
    more = Amount(Quantity(other)) if isinstance(other, int) else other
    return Amount(one.quantity + more.quantity, whole=one.whole and more.whole, computed=True)


def _difference(one: Amount, other: Amount | int) -> Amount:
    less = Amount(Quantity(other)) if isinstance(other, int) else other
    return Amount(one.quantity - less.quantity, whole=one.whole and less.whole, computed=True)


FUNCTIONS: Functions = {
    "quantity": (plain("string_to_quantity", [STRING], QUANTITY, _quantity),),
    "isQuantity": (plain("is_quantity_string", [STRING], BOOL, _is_quantity),),
    "sign": (plain("quantity_sign", [QUANTITY], INT, lambda one: _compare(one, Amount(Quantity(0)))),),
    "isGreaterThan": (
        member("quantity_is_greater_than", [QUANTITY, QUANTITY], BOOL, lambda one, other: _compare(one, other) > 0),
    ),
    "isLessThan": (
        member("quantity_is_less_than", [QUANTITY, QUANTITY], BOOL, lambda one, other: _compare(one, other) < 0),
    ),
    "compareTo": (member("quantity_compare_to", [QUANTITY, QUANTITY], INT, _compare),),
    "asApproximateFloat": (member("quantity_get_float", [QUANTITY], DOUBLE, lambda one: float(one.quantity)),),
    "asInteger": (member("quantity_get_int", [QUANTITY], INT, _as_integer),),
    "isInteger": (member("quantity_is_integer", [QUANTITY], BOOL, _is_integer),),
    "add": (
        member("quantity_add", [QUANTITY, QUANTITY], QUANTITY, _sum),
        member("quantity_add_int", [QUANTITY, INT], QUANTITY, _sum),
    ),
    "sub": (
        member("quantity_sub", [QUANTITY, QUANTITY], QUANTITY, _difference),
        member("quantity_sub_int", [QUANTITY, INT], QUANTITY, _difference),
    ),
}
