"""What is sent in the transcripts of `recorded` is answered as the real server answered it."""

import pytest

from conformance.exchange import difference
from conformance.requests import Raw
from conformance.servers import Server
from conformance.transcript import RECORDED, Scenario, areas, scenarios, transcript


@pytest.mark.parametrize("scenario", scenarios(), ids=str)
async def test_a_scenario(raw: Raw, server: Server, crds: None, scenario: Scenario) -> None:
    different = await difference(scenario, server, raw)
    assert not different, different


@pytest.mark.parametrize("area", [*areas(), *areas("kubectl")])
def test_a_transcript_is_laid_out_as_it_is_recorded(area: str) -> None:
    assert transcript(area).text == (RECORDED / f"{area}.txt").read_text()
    names = [scenario.says for scenario in transcript(area).scenarios]
    assert len(set(names)) == len(names)
