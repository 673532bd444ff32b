"""Asks the real server anew and writes its answers into the transcripts: all, or those of the areas named.

    PYTHONPATH=tests python -m conformance.record [AREA ...]

An area is a file's name, such as `create` or `kubectl/create`. What is sent stays as it is.
"""

import asyncio
import sys

from conformance.crds import serve_all
from conformance.exchange import play
from conformance.requests import Raw
from conformance.servers import Server, reference_server
from conformance.transcript import RECORDED, Scenario, Transcript, areas, transcript


async def record(server: Server, area: str) -> None:
    """Write the answers of one area anew."""
    old = transcript(area)
    scenarios = tuple([await played(server, each) for each in old.scenarios])
    (RECORDED / f"{area}.txt").write_text(Transcript(area, old.about, scenarios).text)


async def played(server: Server, scenario: Scenario) -> Scenario:
    """The scenario in a new namespace."""
    async with Raw(server.url, server.ca_file, server.token) as raw:
        made = await raw.ok("POST /api/v1/namespaces", {"metadata": {"generateName": "test-"}})
        raw.namespace = made["metadata"]["name"]
        return await play(scenario, server, raw)


if __name__ == "__main__":
    with reference_server() as server:
        asyncio.run(serve_all(server))
        for area in sys.argv[1:] or [*areas(), *areas("kubectl")]:
            asyncio.run(record(server, area))
