"""What kubectl prints in whole sessions, command by command, is what it prints on the real server."""

from difflib import unified_diff

import pytest

from conformance.kubectl import Session, Step, read_transcript, transcripts
from conformance.requests import Raw
from conformance.servers import Server


@pytest.mark.parametrize("name", transcripts())
async def test_a_session(name: str, raw: Raw, server: Server, crds: None) -> None:
    session = Session(server, raw)
    steps = read_transcript(name)
    typed = [Step(step.line, session.type(step.line).rstrip("\n")) for step in steps]
    recorded, here = ("".join(map(str, each)).splitlines() for each in (steps, typed))
    difference = "\n".join(unified_diff(recorded, here, "recorded", server.name, n=1, lineterm=""))
    assert not difference, difference
