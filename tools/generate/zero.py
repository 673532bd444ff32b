"""Writes the table of what objects have before anybody has written anything: `python tools/generate/zero.py`.

Go is asked to encode an empty object of every built-in kind, with Kubernetes' libraries in the versions that
reference/go.mod pins. Kinds that have nothing are left out.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from windvane.api.resource import kind_of
from windvane.cluster.apiserver.registry.kinds import strategies
from windvane.cluster.apiserver.schema.models import builtin_models

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "src" / "windvane" / "cluster" / "apiserver" / "schema" / "zero.py"
WIDTH = 118
START, END = '_ZERO = """\n', '"""\n\n\n'
PROGRAM = """
package main

import (
	"encoding/json"
	"os"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/client-go/kubernetes/scheme"
	aggregator "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

func main() {
	_ = apiextensions.AddToScheme(scheme.Scheme)
	_ = aggregator.AddToScheme(scheme.Scheme)
	found := map[string]json.RawMessage{}
	for kind := range scheme.Scheme.AllKnownTypes() {
		if empty, err := scheme.Scheme.New(kind); err == nil {
			if text, err := json.Marshal(empty); err == nil {
				found[kind.GroupVersion().String()+" "+kind.Kind] = text
			}
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(found)
}
"""


def empty_objects() -> dict[str, dict[str, Any]]:
    """What Go makes of an empty object of each kind that its clients know."""
    with tempfile.TemporaryDirectory() as directory:
        for name in ("go.mod", "go.sum"):
            shutil.copy(ROOT / "reference" / name, directory)
        (Path(directory) / "main.go").write_text(PROGRAM)
        command = ["go", "run", "-mod=mod", "."]
        said = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=True).stdout
    found: dict[str, dict[str, Any]] = json.loads(said)
    return found


def table() -> str:
    """One line for each kind, wrapped at commas."""
    empty = empty_objects()
    lines = []
    for kind in (kind_of(model) for model in {*builtin_models(), *strategies()}):
        name = f"{kind.api_version} {kind.name}"
        rest = {key: value for key, value in empty[name].items() if key != "metadata"}
        if rest:
            lines.append(f"{name} {json.dumps(rest, separators=(',', ':'))}")
    return "".join(f"{_wrapped(line)}\n" for line in sorted(lines))


def _wrapped(line: str) -> str:
    lines = [""]
    for piece in line.replace(",", ",\0").split("\0"):
        if len(lines[-1]) + len(piece) > WIDTH:
            lines.append("  ")
        lines[-1] += piece
    return "\n".join(lines)


if __name__ == "__main__":
    before, _, rest = TARGET.read_text().partition(START)
    TARGET.write_text(before + START + table() + END + rest.partition(END)[2])
