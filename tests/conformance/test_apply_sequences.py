"""Whatever several managers do one after the other, the same object is left, and the same owners of its fields."""

import pytest

from conformance.requests import Raw
from conformance.sequences import Sequence, sequences


@pytest.mark.parametrize("sequence", sequences(), ids=lambda sequence: sequence.says)
async def test_a_sequence(raw: Raw, crds: None, sequence: Sequence) -> None:
    codes, left = await sequence.run(raw)
    assert codes == sequence.codes
    assert left == sequence.left
