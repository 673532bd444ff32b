"""Records tables of the real server for the unit tests: `PYTHONPATH=tests python -m reference.record_tables`.

Each is kept with the moment at which it was made, because of the ages in it, and only with the objects of our own.
"""

import json
from pathlib import Path

from reference.controlplane import ReferenceControlPlane
from reference.table_objects import OBJECTS, JSONObject
from reference.test_tables import (
    KINDS,
    NAMESPACE,
    Server,
    builtin,
    made_at,
    populate,
    signing_requests,
    without_descriptions,
)
from windvane import Kind, ambient

WANTED = [*OBJECTS, *signing_requests()]
FILE = Path(__file__).parents[1] / "unit" / "cluster" / "apiserver" / "pipeline" / "recorded_tables.json"


def record() -> None:
    """Write the file anew."""
    with ReferenceControlPlane() as reference:
        server = Server(reference)
        populate(server, WANTED)
        tables = [recorded(server, kind) for kind in KINDS.values()]
        server.close()
    lines = [json.dumps(each, ensure_ascii=False, sort_keys=True) for each in tables if each["rows"]]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n")


def recorded(server: Server, kind: Kind) -> JSONObject:
    """One kind's table. It is asked for again until it is clear when it was made, to the second that ages show."""
    ours = {each["metadata"]["name"] for each in WANTED}
    while True:
        before = ambient.now()
        real = server.table(kind.collection_path(NAMESPACE if kind.namespaced else ""))
        after = ambient.now()
        rows = [row for row in real["rows"] or () if row["object"]["metadata"]["name"] in ours]
        for row in rows:
            row["object"]["metadata"].pop("managedFields", None)
        if made_at(before, builtin(kind), rows) == made_at(after, builtin(kind), rows):
            return {
                "apiVersion": kind.api_version,
                "kind": kind.name,
                "moment": before.isoformat(),
                "columns": without_descriptions(real)["columnDefinitions"],
                "rows": rows,
            }


if __name__ == "__main__":
    record()
