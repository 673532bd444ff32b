"""Build parts of the real Kubernetes, once: its API server with etcd and kubectl, or its end-to-end tests.

    python reference/build.py            build the control plane: kube-apiserver, etcd and kubectl
    python reference/build.py e2e        build e2e.test, the end-to-end tests that `make conformance` runs, and agnhost,
                                         the program that their pods consist of
    python reference/build.py --where    print the directory with the programs; exit 1 if they aren't built

`go.mod` beside this file states the version of Kubernetes, and nothing else does. etcd is the one that this
Kubernetes is tested with. What is built goes to a cache that all checkouts share: $WINDVANE_CACHE, or windvane/ in the
user's cache directory.
"""

import argparse
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
GO_LINE = r"^go ([0-9.]+)"
KUBERNETES_LINE = r"^\s*k8s\.io/kubernetes (v[0-9.]+)"

# `go build` names a program after the last word of its path; see `compile_control_plane` for etcd.
CONTROL_PLANE = {
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kubectl": "k8s.io/kubernetes/cmd/kubectl",
    "etcd": "go.etcd.io/etcd/server/v3",
}

AGNHOST = "k8s.io/kubernetes/test/images/agnhost"

# Kubernetes reports its version from variables that its release scripts set through the linker. The server
# reads the first package, the clients' User-Agent the second.
VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


def main() -> int:
    parser = argparse.ArgumentParser(description="Build parts of the real Kubernetes into a cache, once.")
    parser.add_argument(
        "what",
        nargs="?",
        choices=["control-plane", "e2e"],
        default="control-plane",
        help="kube-apiserver, etcd and kubectl (what you get if you don't say), or Kubernetes' end-to-end tests",
    )
    parser.add_argument("--where", action="store_true", help="only print the directory that has the programs")
    asked = parser.parse_args()
    product = end_to_end_tests() if asked.what == "e2e" else control_plane()
    if asked.where:
        if not product.is_built():
            needs = f"needs Go {stated_in_go_mod(GO_LINE)} or newer"
            print(f"{product.name} isn't built; run `{product.command}` ({needs})", file=sys.stderr)
            return 1
        print(product.directory)
        return 0
    if product.is_built():
        print(f"{product.name} is already built in {product.directory}.")
        return 0
    try:
        build(product)
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{product.name} is built in {product.directory}.")
    return 0


class Product(NamedTuple):
    """Programs that are built together, into a directory of their own."""

    name: str
    command: str  # that builds it
    directory: Path
    programs: list[str]
    minutes: str
    compile: Callable[[str, str, Path], None]  # with which `go`, which version of Kubernetes, and into where

    def is_built(self) -> bool:
        return all((self.directory / name).is_file() for name in self.programs)


def control_plane() -> Product:
    version = kubernetes_version()
    return Product(
        f"Kubernetes {version}",
        "make reference",
        home(version) / "bin",
        list(CONTROL_PLANE),
        "6 to 10 minutes",
        compile_control_plane,
    )


def end_to_end_tests() -> Product:
    version = kubernetes_version()
    # Their main program is ours, and may differ between checkouts.
    digest = hashlib.sha256((HERE / "e2e" / "e2e_test.go").read_bytes()).hexdigest()[:12]
    return Product(
        f"The e2e suite of Kubernetes {version}",
        "python reference/build.py e2e",
        home(version) / f"e2e-{digest}",
        ["agnhost", "e2e.test"],
        "3 to 5 minutes, or 10 without `make reference` before it,",
        compile_end_to_end_tests,
    )


def home(version: str) -> Path:
    """The directory of all that is built of one version."""
    return cache_directory() / "reference" / version


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


def build(product: Product) -> None:
    """Build all programs and put them in their directory in one step, so that nobody ever sees half of them."""
    go = find_go()
    version = kubernetes_version()
    parent = product.directory.parent
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        remedy = "Set WINDVANE_CACHE to a directory of yours."
        raise BuildError(f"can't make {parent}: {error.strerror}. {remedy}") from error
    with (parent / "lock").open("w") as lock:
        # Two builds at once would each take all cores and twice the time: the second waits, and finds it done.
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another build of the same version is under way; waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if product.is_built():
            return
        print(
            f"Building {', '.join(product.programs)} of Kubernetes {version}. It takes {product.minutes} on two "
            "cores, and happens once.",
            flush=True,
        )
        # A build that was killed couldn't remove its own.
        for abandoned in parent.glob("building-*"):
            shutil.rmtree(abandoned)
        with tempfile.TemporaryDirectory(dir=parent, prefix="building-") as scratch:
            out = Path(scratch) / "out"
            out.mkdir()
            product.compile(go, version, out)
            # Built before there were as many programs as there are now.
            shutil.rmtree(product.directory, ignore_errors=True)
            out.rename(product.directory)


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


def compile_control_plane(go: str, version: str, out: Path) -> None:
    run_go(go, "build", "-trimpath", "-ldflags", linker_flags(version), "-o", f"{out}/", *CONTROL_PLANE.values())
    (out / "server").rename(out / "etcd")


def compile_end_to_end_tests(go: str, version: str, out: Path) -> None:
    run_go(go, "test", "-c", "-trimpath", "-ldflags", linker_flags(version), "-o", f"{out}/e2e.test", "./e2e")
    run_go(go, "build", "-trimpath", "-ldflags", linker_flags(version), "-o", f"{out}/", AGNHOST)


def run_go(go: str, command: str, *arguments: str) -> None:
    finished = subprocess.run(
        [go, command, *arguments],
        cwd=HERE,
        # Without cgo no C compiler is needed, and the programs run on any Linux.
        env=os.environ | {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0"},
        check=False,
    )
    if finished.returncode != 0:
        raise BuildError(
            f"`go {command}` failed with exit code {finished.returncode}; its reasons are above. If it couldn't "
            "download modules, check `go env GOPROXY`. What was compiled so far is kept: trying again is cheap."
        )


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
