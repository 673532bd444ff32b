"""Records what kubectl prints on the real server into the transcripts of conformance/sessions, all or those named.

PYTHONPATH=tests python tests/conformance/record_sessions.py [NAME ...]
"""

import asyncio
import sys

from conformance.crds import GADGET, serve
from conformance.kubectl import SESSIONS, Session, Step, read_transcript, transcripts
from conformance.requests import Raw
from conformance.servers import Server, reference_server


async def record(server: Server, name: str) -> None:
    """Type the commands of one session into a new namespace."""
    async with Raw(server.url, server.ca_file, server.token) as raw:
        made = await raw.ok("POST /api/v1/namespaces", {"metadata": {"generateName": "test-"}})
        raw.namespace = made["metadata"]["name"]
        session = Session(server, raw)
        steps = [Step(step.line, session.type(step.line).rstrip("\n")) for step in read_transcript(name)]
    (SESSIONS / f"{name}.txt").write_text("".join(map(str, steps)))


async def define(server: Server) -> None:
    """The custom kind that sessions use."""
    async with Raw(server.url, server.ca_file, server.token) as raw:
        await serve(raw, GADGET)


if __name__ == "__main__":
    with reference_server() as server:
        asyncio.run(define(server))
        for name in sys.argv[1:] or transcripts():
            asyncio.run(record(server, name))
