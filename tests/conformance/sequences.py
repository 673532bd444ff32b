"""Long sequences of writes by several managers, which chance has made, and what the real server made of them.

They are in apply_sequences.json. `PYTHONPATH=tests python tests/conformance/sequences.py` records the outcomes anew;
the writes stay.
"""

import asyncio
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from conformance.crds import GADGET, PLAIN, serve
from conformance.ownership import send
from conformance.requests import Raw
from conformance.servers import reference_server

FILE = Path(__file__).parent / "apply_sequences.json"
# What differs from run to run, and from server to server.
CHANCE = ("uid", "resourceVersion", "creationTimestamp", "time", "clusterIP", "clusterIPs", "nodePort")


@dataclass
class Sequence:
    """Some writes, how each is answered, and the object that is left."""

    says: str
    place: str
    writes: list[tuple[str, Any]]
    codes: list[int]
    left: Any

    async def run(self, raw: Raw) -> tuple[list[int], Any]:
        """The codes, and what is left, on a server."""
        codes = [(await send(raw, *write)).code for write in self.writes]
        return codes, settled((await raw(f"GET {self.place}")).json, raw.namespace)


def settled(value: Any, namespace: str) -> Any:
    """A value without what differs from run to run."""
    if isinstance(value, dict):
        kept = {key: settled(inner, namespace) for key, inner in value.items() if key not in CHANCE}
        if "managedFields" in kept:
            kept["managedFields"].sort(key=lambda entry: json.dumps(entry, sort_keys=True))
        return kept
    if isinstance(value, list):
        return [settled(inner, namespace) for inner in value]
    return "NS" if value == namespace else value


def sequences() -> list[Sequence]:
    """All that are recorded."""
    return [Sequence(**each) for each in json.loads(FILE.read_text())]


async def record() -> None:
    """Ask the real server again."""
    found = sequences()
    with reference_server() as server:
        async with Raw(server.url, server.ca_file, server.token) as raw:
            for crd in (GADGET, PLAIN):
                await serve(raw, crd)
            for each in found:
                made = await raw.ok("POST /api/v1/namespaces", {"metadata": {"generateName": "test-"}})
                raw.namespace = made["metadata"]["name"]
                each.codes, each.left = await each.run(raw)
    lines = [json.dumps(asdict(each), separators=(",", ":")) for each in found]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    asyncio.run(record())
