"""Quantities: exact amounts that read and print as Kubernetes' own."""

import copy
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from windvane.api.quantity import Format, Quantity
from windvane.api.value import is_value

POWERS = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
BINARY_POWERS = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40}

decimal_texts = st.builds(
    lambda sign, whole, fraction, suffix: (
        f"{sign}{whole}.{fraction:09d}{suffix}",
        (-1 if sign == "-" else 1) * Fraction(whole * 10**9 + fraction, 10**9) * Fraction(10) ** POWERS[suffix],
    ),
    st.sampled_from(["", "+", "-"]),
    st.integers(0, 10**20),
    st.integers(0, 10**9 - 1),
    st.sampled_from(["", "k", "M", "G", "T", "P", "E"]),
)
binary_texts = st.builds(
    lambda amount, suffix: (f"{amount}{suffix}", Fraction(amount * 2 ** BINARY_POWERS[suffix])),
    st.integers(-(10**6), 10**6),
    st.sampled_from(sorted(BINARY_POWERS)),
)
exponent_texts = st.builds(
    lambda amount, power: (f"{amount}e{power}", amount * Fraction(10) ** power),
    st.integers(-(10**20), 10**20),
    st.integers(-9, 30),
)
texts = st.one_of(decimal_texts, binary_texts, exponent_texts)
quantities = texts.map(lambda pair: Quantity(pair[0]))


@pytest.mark.parametrize(
    ("written", "printed"),  # as k8s.io/apimachinery v0.36.3 prints what it has read
    [
        ("0", "0"), ("-0", "0"), ("0Mi", "0"), ("000", "0"), ("0e5", "0"),
        ("1", "1"), ("+1", "+1"), ("-1", "-1"), ("1.5", "1500m"), ("0.5", "500m"), (".5", "500m"), ("5.", "5."),
        ("100m", "100m"), ("1000m", "1"), ("1500m", "1500m"), ("-1.5", "-1500m"), ("0.001", "1m"),
        ("1k", "1k"), ("1000", "1k"), ("1000k", "1M"), ("12345", "12345"), ("10000", "10k"), ("1E", "1E"),
        ("1Ki", "1Ki"), ("1024Ki", "1Mi"), ("1024Mi", "1Gi"), ("1.5Gi", "1536Mi"), ("1000Ki", "1000Ki"),
        ("0.5Ki", "512"), ("-0.5Ki", "-512"), ("0.0001Ki", "102400u"), ("1000.5Mi", "1024512Ki"),
        ("1.0000000001Gi", "1073741824107374183n"), ("7Ei", "7Ei"),
        ("2000Ei", "9223372036854775807"), ("-2000Ei", "-9223372036854775807"), ("100E", "100E"),
        ("1e3", "1e3"), ("1E3", "1E3"), ("1e+3", "1e+3"), ("1e4", "10e3"), ("10e2", "1e3"), ("1e0", "1e0"),
        ("1e-3", "1e-3"), ("1.5e1", "1.5e1"), ("1.5e2", "150"), ("1e21", "1e21"), ("1e-12", "1e-9"),
        ("1.500", "1.500"), ("1.234", "1.234"), ("0001Mi", "0001Mi"), ("3.Ki", "3.Ki"),  # not canonical, yet kept
        ("0.0000000001", "1n"), ("-0.0000000001", "-1n"), ("1.0000000001", "1000000001n"),
        ("9223372036854775808", "9223372036854775808"), ("12345678901234567890k", "12345678901234567890k"),
    ],
)  # fmt: skip
def test_a_quantity_prints_as_kubernetes_prints_it(written: str, printed: str) -> None:
    assert str(Quantity(written)) == printed
    assert Quantity.from_wire(written).to_wire() == printed


@pytest.mark.parametrize(
    "bad",
    [
        "",
        " ",
        "-",
        ".",
        "+.",
        "Ki",
        "1 Gi",
        "1Kii",
        "1K",
        "1mi",
        "1e",
        "1ee3",
        "1e3.5",
        "1.2.3",
        "--1",
        "1_000",
        "٣",
        "nan",
    ],
)
def test_a_bad_string_is_named_beside_good_ones(bad: str) -> None:
    with pytest.raises(ValueError, match=r'quantity .*write for example "500m"') as error:
        Quantity(bad)
    assert repr(bad) in str(error.value)


@pytest.mark.parametrize("huge", ["1e999999999", "1e99999999999999999999", "9" * 10**6, "0." + "1" * 10**6])
def test_a_number_that_would_fill_the_memory_is_refused(huge: str) -> None:
    with pytest.raises(ValueError, match="quantity") as error:
        Quantity(huge)
    assert len(str(error.value)) < 300


def test_arithmetic_that_grows_without_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 100 digits"):
        Quantity("1E") * 10**100


def test_a_very_small_amount_is_still_some() -> None:
    assert Quantity("1e-999999999") == Quantity("1n")
    assert Quantity("-1e-999999999") == Quantity("-1n")


@given(texts)
def test_reading_is_exact(pair: tuple[str, Fraction]) -> None:
    text, exact = pair
    assert Quantity(text).value == exact


@given(st.integers(-(10**15), 10**15), st.integers(10, 30))
def test_what_is_finer_than_a_nano_is_rounded_away_from_zero(digits: int, places: int) -> None:
    exact = Fraction(digits, 10**places)
    read = Quantity(f"{digits}e-{places}").value
    assert abs(exact) <= abs(read) < abs(exact) + Fraction(1, 10**9)
    assert (read * 10**9).denominator == 1


@given(quantities)
def test_what_is_printed_reads_back_as_the_same_amount_and_text(quantity: Quantity) -> None:
    again = Quantity(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)


@given(quantities, quantities)
def test_sums_and_differences_are_exact(left: Quantity, right: Quantity) -> None:
    assert (left + right).value == left.value + right.value
    assert (left - right).value == left.value - right.value
    # With a binary suffix, Kubernetes reads nothing above 2^63 - 1; it writes it all the same.
    if abs((left + right).value) < 2**63:
        assert Quantity(str(left + right)) == left + right


@given(quantities, st.integers(-1000, 1000))
def test_multiples_are_exact(quantity: Quantity, factor: int) -> None:
    assert (quantity * factor).value == (factor * quantity).value == quantity.value * factor
    assert (-quantity).value == -quantity.value


@given(quantities, quantities)
def test_order_and_equality_are_those_of_the_amounts(left: Quantity, right: Quantity) -> None:
    assert (left < right) == (left.value < right.value)
    assert (left >= right) == (left.value >= right.value)
    assert (left == right) == (left.value == right.value)


@given(quantities)
def test_whole_units_and_thousandths_are_rounded_away_from_zero(quantity: Quantity) -> None:
    assert 0 <= abs(int(quantity)) - abs(quantity.value) < 1
    assert 0 <= abs(quantity.milli()) - abs(quantity.value * 1000) < 1


def test_equal_amounts_are_equal_and_hash_alike_however_they_are_written() -> None:
    assert Quantity("1Gi") == Quantity("1024Mi") == Quantity(2**30)
    assert len({Quantity("1Gi"), Quantity("1024Mi"), Quantity("1.0Gi")}) == 1
    assert Quantity("1") != 1


def test_a_sum_prints_in_the_family_of_the_first_that_is_not_zero() -> None:
    assert str(Quantity("1Gi") + Quantity("1M")) == str(Quantity("1Gi") + Quantity(10**6)) == "1074741824"
    assert str(Quantity("0") + Quantity("1Gi")) == "1Gi"
    assert str(Quantity("1e3") + Quantity("1k")) == "2e3"
    assert (Quantity("1Gi") - Quantity("1Gi")).format is Format.BINARY_SI


def test_quantities_can_be_summed() -> None:
    assert sum([Quantity("100m"), Quantity("900m")], Quantity(0)) == Quantity(1)


@pytest.mark.parametrize(
    ("number", "printed"),
    [(2, "2"), (-1500, "-1500"), (0.1, "100m"), (1e3, "1k"), (Decimal("0.25"), "250m"), (Fraction(1, 3), "333333334n")],
)
def test_python_numbers_are_taken_for_what_they_say(number: int | float | Decimal | Fraction, printed: str) -> None:
    assert str(Quantity(number)) == printed


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), Decimal("1e999999999"), True, None, [1]])
def test_what_is_no_number_is_refused(bad: object) -> None:
    with pytest.raises(ValueError, match="quantity"):
        Quantity.from_wire(bad)


def test_beyond_the_last_suffix_nothing_is_lost() -> None:
    # Go prints "10" here: it has no suffix for 10^21 and leaves it out.
    assert str(Quantity("10000000000000000000000")) == "10000E"
    assert str(Quantity("1Ei") * 1024) == "1024Ei"


def test_comparing_and_adding_other_types_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        Quantity(1) < 2  # type: ignore[operator]  # noqa: B015
    with pytest.raises(TypeError):
        Quantity(1) + 2  # type: ignore[operator]
    with pytest.raises(TypeError):
        Quantity(1) * 0.5  # type: ignore[operator]


def test_a_quantity_survives_copying_and_pickling() -> None:
    quantity = Quantity("1.500")
    assert str(copy.deepcopy(quantity)) == str(pickle.loads(pickle.dumps(quantity))) == "1.500"


def test_a_quantity_shows_itself_in_a_repr_and_as_a_truth() -> None:
    assert repr(Quantity("1.5Gi")) == "Quantity('1536Mi')"
    assert not Quantity("0Mi")
    assert float(Quantity("250m")) == 0.25


def test_a_quantity_is_a_value() -> None:
    assert is_value(Quantity)
    assert Quantity.wire_schema["x-kubernetes-int-or-string"] is True
    assert Quantity.from_wire(" 1Gi ") == Quantity("1Gi")
