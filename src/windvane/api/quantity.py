"""A quantity is an exact amount of a resource, such as `500m` of a CPU or `1536Mi` of memory.

    Quantity("1.5Gi") + Quantity("512Mi") == Quantity("2Gi")
    str(Quantity("0.5")) == "500m"

Kubernetes keeps nothing finer than a billionth, so a quantity is a whole number of nanos: arithmetic never
rounds. Only reading does, away from zero: a request for some of a resource gets some.

A quantity remembers how it was written (binary, decimal or with an exponent) and prints in the same family.
Equality, order and hash look at the amount alone: `1Gi == 1024Mi`.
"""

import re
from collections.abc import Mapping
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import total_ordering
from types import MappingProxyType
from typing import Any, ClassVar, Self

# What the server is told to accept. A digit is required, unlike in Go, where "-" and "." are zero. With at most 40
# characters and exponents below 60, no amount is too large.
_GRAMMAR = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE](\+?[0-5]?[0-9]|-[0-9]{1,2}))?"
_WIRE_LENGTH = 40
_PARTS = re.compile(
    r"(?P<sign>[+-]?)(?=\.?[0-9])(?P<whole>[0-9]*)\.?(?P<fraction>[0-9]*)"
    r"(?:(?P<unit>[KMGTPE]i|[numkMGTPE]|)|[eE](?P<exponent>[+-]?[0-9]+))"
)

_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX = ["", *_BINARY]

_NANO = 10**9
_MAX_BINARY = (2**63 - 1) * _NANO  # Kubernetes caps what is written with a binary suffix, and nothing else

# There is not that much of anything; without a bound, reading "1e999999999" would fill the memory.
_MAX_DIGITS = 100
_MAX_LENGTH = 200
_TOO_LARGE = f"more than {_MAX_DIGITS} digits before the point are more than a quantity can hold"


class Format(StrEnum):
    """The family of suffixes that a quantity is written with."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@total_ordering
class Quantity:
    """An exact, immutable amount: `Quantity("1.5Gi")`, `Quantity("100m")`, `Quantity(2)`."""

    __slots__ = ("_format", "_nanos", "_text")

    _nanos: int
    _format: Format
    _text: str | None

    wire_schema: ClassVar[Mapping[str, Any]] = MappingProxyType(
        {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "maxLength": _WIRE_LENGTH,
            "pattern": f"^{_GRAMMAR}$",
            "x-kubernetes-int-or-string": True,
        }
    )

    def __init__(self, value: str | int | float | Decimal | Fraction) -> None:
        if isinstance(value, str):
            self._nanos, self._format, self._text = _parse(value)
            return
        self._format, self._text = Format.DECIMAL_SI, None
        if isinstance(value, int | Fraction) and not isinstance(value, bool):
            self._nanos = _bounded(_divide_up(value.numerator * _NANO, value.denominator))
        elif isinstance(value, float | Decimal):
            # Through the text: 0.1 means a tenth, not the binary fraction next to it.
            self._nanos = _parse(str(value))[0]
        else:
            raise _problem(value, f"a {type(value).__name__} is not a number or a string")

    @classmethod
    def _make(cls, nanos: int, family: Format) -> Self:
        made = cls.__new__(cls)
        made._nanos, made._format, made._text = _bounded(nanos), family, None
        return made

    @classmethod
    def from_wire(cls, value: Any) -> Self:
        """Read a JSON string or number."""
        return cls(value.strip() if isinstance(value, str) else value)

    def to_wire(self) -> str:
        """The text that Kubernetes itself would send."""
        return str(self)

    @property
    def value(self) -> Fraction:
        """The exact amount."""
        return Fraction(self._nanos, _NANO)

    @property
    def format(self) -> Format:
        """The family of suffixes that this quantity prints with where it can."""
        return self._format

    def milli(self) -> int:
        """The amount in thousandths, such as CPU millicores, rounded away from zero."""
        return _divide_up(self._nanos, _NANO // 1000)

    def __int__(self) -> int:
        """The amount in whole units, rounded away from zero as Kubernetes does: a quota of 1500m needs 2."""
        return _divide_up(self._nanos, _NANO)

    def __float__(self) -> float:
        return self._nanos / _NANO

    def __bool__(self) -> bool:
        return self._nanos != 0

    def __str__(self) -> str:
        return self._text or _canonical(self._nanos, self._format)

    def __repr__(self) -> str:
        return f"Quantity({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return self._nanos == other._nanos if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: "Quantity") -> bool:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._nanos < other._nanos

    def __hash__(self) -> int:
        return hash(self._nanos)

    def __add__(self, other: "Quantity") -> Self:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._make(self._nanos + other._nanos, self._format if self else other._format)

    def __sub__(self, other: "Quantity") -> Self:
        if not isinstance(other, Quantity):
            return NotImplemented
        return self._make(self._nanos - other._nanos, self._format if self else other._format)

    def __mul__(self, factor: int) -> Self:
        if not isinstance(factor, int):
            return NotImplemented
        return self._make(self._nanos * factor, self._format)

    __rmul__ = __mul__

    def __neg__(self) -> Self:
        return self._make(-self._nanos, self._format)


def _parse(text: str) -> tuple[int, Format, str | None]:
    """The nanos, the family, and the text itself where Kubernetes would send it back unchanged."""
    parts = _PARTS.fullmatch(text) if len(text) <= _MAX_LENGTH else None
    if parts is None:
        raise _problem(text, "this is not a number with an optional suffix")
    whole, fraction, unit = parts["whole"].lstrip("0") or "0", parts["fraction"], parts["unit"]
    digits = int(whole + fraction)

    if unit in _BINARY:
        family, power = Format.BINARY_SI, _BINARY[unit]
        nanos = _divide_up((digits << power) * _NANO, 10 ** len(fraction))
        if 0 < nanos < _NANO:
            family = Format.DECIMAL_SI
        nanos = min(nanos, _MAX_BINARY)
    else:
        family = Format.DECIMAL_SI if parts["exponent"] is None else Format.DECIMAL_EXPONENT
        power = _DECIMAL[unit] if parts["exponent"] is None else int(parts["exponent"])
        shift = power - len(fraction) + 9
        if digits == 0:
            nanos = 0
        elif len(whole) + power > _MAX_DIGITS:
            raise _problem(text, _TOO_LARGE)
        elif shift >= 0:
            nanos = digits * 10**shift
        else:
            # Far below a nano, only the rounding is left: how far doesn't matter.
            nanos = _divide_up(digits, 10 ** min(-shift, _MAX_LENGTH))

    signed = -nanos if parts["sign"] == "-" else nanos
    return signed, family, text if _is_sent_back(whole, fraction, family, power) else None


def _is_sent_back(whole: str, fraction: str, family: Format, power: int) -> bool:
    """Whether Kubernetes remembers the text as it was written, which it does for most that look canonical.

    It takes some for canonical that are not, such as "1.500". Writing those otherwise than the server would
    make an unchanged object look changed.
    """
    if family is Format.BINARY_SI:
        return not fraction and len(whole) + power * 3 // 10 <= 14 and int(whole) % 8 != 0
    digits, scale = whole + fraction, power - len(fraction)
    exact = len(digits) <= 18 and scale >= -9 and scale % 3 == 0
    return exact and digits[0] != "0" and not digits.endswith("000")


def _canonical(nanos: int, family: Format) -> str:
    """The shortest text without a point, in `family` if that is exact."""
    if nanos == 0:
        return "0"
    if family is Format.BINARY_SI:
        amount, rest = divmod(nanos, _NANO)
        if rest == 0 and abs(amount) >= 1024:
            steps = 0
            while amount % 1024 == 0 and steps < len(_BINARY):
                amount, steps = amount // 1024, steps + 1
            return f"{amount}{_BINARY_SUFFIX[steps]}"
        family = Format.DECIMAL_SI
    amount, power = nanos, -9
    # Go has no suffix above E and then prints none at all, a thousand times too little; we stay at E.
    while amount % 1000 == 0 and (power < 18 or family is Format.DECIMAL_EXPONENT):
        amount, power = amount // 1000, power + 3
    if family is Format.DECIMAL_SI:
        return f"{amount}{_DECIMAL_SUFFIX[power]}"
    return f"{amount}e{power}" if power else str(amount)


def _divide_up(amount: int, by: int) -> int:
    """Divide, rounding away from zero."""
    return amount // by if amount < 0 else -(-amount // by)


def _bounded(nanos: int) -> int:
    if abs(nanos) >= 10**_MAX_DIGITS * _NANO:
        raise ValueError(f"quantity: {_TOO_LARGE}")
    return nanos


def _problem(value: object, problem: str) -> ValueError:
    shown = repr(value) if len(str(value)) <= 60 else f"{str(value)[:60]!r}…"
    return ValueError(f'quantity {shown}: {problem}; write for example "500m", "1.5", "2Gi", "100k" or "1e3"')
