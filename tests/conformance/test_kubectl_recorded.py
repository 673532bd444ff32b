"""What kubectl prints in the transcripts of `recorded/kubectl` is what it prints on the real server."""

import pytest

from conformance.exchange import difference
from conformance.requests import Raw
from conformance.servers import Server
from conformance.transcript import Scenario, scenarios


@pytest.mark.parametrize("scenario", scenarios("kubectl"), ids=str)
async def test_a_scenario(raw: Raw, server: Server, crds: None, scenario: Scenario) -> None:
    different = await difference(scenario, server, raw)
    assert not different, different
