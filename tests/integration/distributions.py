"""The wheel and the sdist of windvane, and fresh environments that have one of them, as users make them."""

import os
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]


class Distributions(NamedTuple):
    """What a release consists of."""

    wheel: Path
    sdist: Path

    @property
    def version(self) -> str:
        return self.wheel.name.split("-")[1]

    @classmethod
    def built(cls, place: Path) -> "Distributions":
        build: list[str | Path] = [
            sys.executable,
            "-m",
            "hatchling",
            "build",
            "-t",
            "sdist",
            "-t",
            "wheel",
            "-d",
            place,
        ]
        subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        [wheel], [sdist] = place.glob("*.whl"), place.glob("*.tar.gz")
        return cls(wheel, sdist)


class Environment(NamedTuple):
    """A virtual environment that knows nothing of this checkout and of this process's environment."""

    directory: Path
    home: Path

    @classmethod
    def fresh(cls, place: Path) -> "Environment":
        (place / "home").mkdir(parents=True)
        venv.create(place / "env", with_pip=True)
        return cls(place / "env", place / "home")

    def variables(self, *programs: Path) -> dict[str, str]:
        """Those of a user's shell, with the environment activated and the directories of some more programs."""
        ours = ("PYTHON", "PYTEST", "WINDVANE", "KUBE", "VIRTUAL_ENV")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        path = [str(self.directory / "bin"), *map(str, programs), os.environ["PATH"]]
        return {**kept, "PATH": os.pathsep.join(path), "HOME": str(self.home), "VIRTUAL_ENV": str(self.directory)}

    def pip(self, *arguments: str | Path) -> None:
        """Run pip, with the package index and nothing else."""
        command = [self.directory / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
        subprocess.run(command, cwd=self.home, env=self._with_cache(), check=True)

    def run(self, *command: str | Path, cwd: Path | None = None, more: Mapping[str, str] | None = None) -> str:
        """What a command prints. It may not fail."""
        variables = {**self.variables(), **(more or {})}
        done = subprocess.run(command, cwd=cwd or self.home, env=variables, check=False, capture_output=True, text=True)
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def _with_cache(self) -> dict[str, str]:
        # What this machine has fetched once is not fetched again.
        return self.variables() | {"HOME": os.environ.get("HOME", str(self.home))}
