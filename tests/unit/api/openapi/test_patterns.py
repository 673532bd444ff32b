"""Regular expressions: what is too large to be compiled while all wait."""

import pytest

from windvane.api.openapi.patterns import Pattern, PatternError


def test_a_name_in_any_letters_may_be_long() -> None:
    assert Pattern(r"^[\pL\pN]{1,255}$").found_in("ä" * 255)


def test_what_would_take_long_to_compile_is_refused() -> None:
    with pytest.raises(PatternError) as refused:
        Pattern(r"\pL{1000}")
    assert str(refused.value) == r"error parsing regexp: expression too large: `\pL{1000}`"


def test_how_long_a_search_can_take_grows_with_text_and_pattern() -> None:
    assert Pattern("a.{900}c").seconds("ab" * 4_000) > 100 * Pattern("abc").seconds("ab" * 400)
