"""`python tools/generate` writes src/windvane/k8s anew."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from generate.modules import TARGET, generated

files = generated()
for path, text in files.items():
    path.write_text(text, encoding="utf-8")
for stale in set(TARGET.glob("*.py")) - files.keys():
    stale.unlink()
