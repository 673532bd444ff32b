"""Build the reference control plane, once: the real kube-apiserver with its etcd and its kubectl.

    python reference/build.py            build what is missing
    python reference/build.py --where    print the directory with the programs; exit 1 if they aren't built

`go.mod` beside this file states the version of Kubernetes, and nothing else does. etcd is the one that this
Kubernetes is tested with. What is built doesn't depend on the checkout, so it goes to a cache that all
checkouts share: $WINDVANE_CACHE, or windvane/ in the user's cache directory.
"""

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
GO_LINE = r"^go ([0-9.]+)"
KUBERNETES_LINE = r"^\s*k8s\.io/kubernetes (v[0-9.]+)"

# `go build` names a program after the last word of its path; see `compile_programs` for etcd.
PROGRAMS = {
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "etcd": "go.etcd.io/etcd/server/v3",
}

# Kubernetes reports its version from variables that its release scripts set through the linker. The server
# reads the first package, the clients' User-Agent the second.
VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the reference control plane into a cache, once.")
    parser.add_argument("--where", action="store_true", help="only print the directory that has the programs")
    where: bool = parser.parse_args().where
    version = kubernetes_version()
    directory = cache_directory() / "reference" / version / "bin"
    if where:
        if not is_built(directory):
            needs = f"needs Go {stated_in_go_mod(GO_LINE)} or newer"
            print(f"Kubernetes {version} isn't built; run `make reference` ({needs})", file=sys.stderr)
            return 1
        print(directory)
        return 0
    if is_built(directory):
        print(f"Kubernetes {version} is already built in {directory}.")
        return 0
    try:
        build(version, directory)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"Kubernetes {version} is built in {directory}.")
    return 0


class BuildError(Exception):
    """The reference control plane can't be built; the message says what to do."""


def kubernetes_version() -> str:
    """The version that `go.mod` requires, such as v1.36.3."""
    return stated_in_go_mod(KUBERNETES_LINE)


def stated_in_go_mod(pattern: str) -> str:
    found = re.search(pattern, (HERE / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise BuildError(f"{HERE / 'go.mod'} has no line like {pattern!r}; run `git restore reference/go.mod`.")
    return found[1]


def cache_directory() -> Path:
    if own := os.environ.get("WINDVANE_CACHE"):
        return Path(own).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "windvane"


def is_built(directory: Path) -> bool:
    return all((directory / name).is_file() for name in PROGRAMS)


def build(version: str, directory: Path) -> None:
    """Build all programs and put them in `directory` in one step, so that nobody ever sees half of them."""
    go = find_go()
    home = directory.parent
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BuildError(f"can't make {home}: {error.strerror}. Set WINDVANE_CACHE to a directory of yours.") from error
    with (home / "lock").open("w") as lock:
        # Two builds at once would each take all cores and twice the time: the second waits, and finds it done.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build of the same version is under way; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if is_built(directory):
            return
        print(
            f"Building {', '.join(PROGRAMS)} of Kubernetes {version}. It takes 6 to 10 minutes on two cores, "
            "and happens once.",
            flush=True,
        )
        # A build that was killed couldn't remove its own.
        for abandoned in home.glob("building-*"):
            shutil.rmtree(abandoned)
        with tempfile.TemporaryDirectory(dir=home, prefix="building-") as scratch:
            compile_programs(go, version, Path(scratch))
            # Built before PROGRAMS had all that it has now.
            shutil.rmtree(directory, ignore_errors=True)
            (Path(scratch) / "bin").rename(directory)


def find_go() -> str:
    """The `go` command, new enough for this Kubernetes."""
    needed = stated_in_go_mod(GO_LINE)
    remedy = f"Install Go {needed} or newer, put its `go` on the PATH, and run `make reference` again."
    go = shutil.which("go")
    if go is None:
        raise BuildError(f"building the reference control plane needs Go, and there is no `go` on the PATH. {remedy}")
    # GOTOOLCHAIN=local: otherwise an old `go` would silently download a newer one, or fail to and not say why.
    answer = subprocess.run(
        [go, "env", "GOVERSION"],
        env=os.environ | {"GOTOOLCHAIN": "local"},
        cwd=Path(go).parent,  # outside the module: an old `go` refuses to say anything inside it
        capture_output=True,
        text=True,
        check=False,
    )
    found = answer.stdout.strip().removeprefix("go")
    if numbers(found) < numbers(needed):
        raise BuildError(f"{go} is Go {found or 'of an unknown version'}, which is too old. {remedy}")
    return go


def numbers(version: str) -> tuple[int, ...]:
    """1.26.8 as (1, 26, 8), to compare; what follows the numbers (1.27rc1) doesn't count."""
    leading = re.match(r"\d+(\.\d+)*", version)
    return tuple(int(part) for part in leading[0].split(".")) if leading else ()


def compile_programs(go: str, version: str, scratch: Path) -> None:
    """Leave the programs in `scratch/bin`."""
    out = scratch / "out"
    out.mkdir()
    finished = subprocess.run(
        [go, "build", "-trimpath", "-ldflags", linker_flags(version), "-o", f"{out}/", *PROGRAMS.values()],
        cwd=HERE,
        # Without cgo no C compiler is needed, and the programs run on any Linux.
        env=os.environ | {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
        check=False,
    )
    if finished.returncode != 0:
        raise BuildError(
            f"`go build` failed with exit code {finished.returncode}; its reasons are above. If it couldn't download "
            "modules, check `go env GOPROXY`. What was compiled so far is kept: trying again is cheap."
        )
    (out / "server").rename(out / "etcd")
    out.rename(scratch / "bin")


def linker_flags(version: str) -> str:
    """Flags that make the programs say which version they are, the same way on every machine and day."""
    major, minor, _ = version.removeprefix("v").split(".")
    stamps = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        # A Go module doesn't carry its commit; "unknown" is the word that Kubernetes' clients use for that.
        "gitCommit": "unknown",
        "buildDate": "1970-01-01T00:00:00Z",
    }
    settings = [f"-X {package}.{name}={value}" for package in VERSION_PACKAGES for name, value in stamps.items()]
    return " ".join(["-s", "-w", *settings])


if __name__ == "__main__":
    sys.exit(main())
