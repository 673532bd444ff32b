"""The servers that the corpus runs on, all seen the same way: a URL, a kubeconfig, a token, a certificate authority."""

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from reference.controlplane import ControlPlaneError, Programs, ReferenceControlPlane


@dataclass(frozen=True)
class Server:
    """One running API server and its administrator's ways in."""

    name: str
    url: str
    ca_file: Path
    token: str
    user_token: str
    """Of "ordinary", who has no rights but those that everybody has."""
    kubeconfig: Path
    forget: Callable[[], None]
    """Makes the server forget all history up to now, as it does by itself after some minutes."""

    def kubectl(
        self,
        *arguments: str,
        input: str | None = None,  # noqa: A002 - as in subprocess
        editor: str = "",
        directory: Path | None = None,
    ) -> str:
        """All that kubectl prints, complaints included; the test is skipped where kubectl isn't built."""
        try:
            program = Programs.find().directory / "kubectl"
        except ControlPlaneError as error:
            pytest.skip(str(error))
        # Neither the discovery cache nor the preferences of whoever runs the tests: they are about other servers.
        settings = [f"--kubeconfig={self.kubeconfig}", f"--cache-dir={self.kubeconfig.parent / 'kubectl-cache'}"]
        done = subprocess.run(
            [program, *settings, *arguments],
            input=input or "",
            cwd=directory,
            env=os.environ | {"KUBERC": "off", "KUBE_EDITOR": editor},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=120,
        )
        return done.stdout


@contextmanager
def reference_server(
    *,
    service_accounts: bool = False,
    admission_plugins: tuple[str, ...] = (),
    migrations: bool = False,
    webhook_certificates: Mapping[str, tuple[Path, Path]] | None = None,
) -> Iterator[Server]:
    """The real kube-apiserver, alone: no controller and no node changes what tests write."""
    with ReferenceControlPlane(
        service_accounts=service_accounts,
        admission_plugins=admission_plugins,
        migrations=migrations,
        webhook_certificates=webhook_certificates,
    ) as running:
        yield Server(
            "reference",
            running.url,
            running.ca_file,
            running.admin_token,
            running.user_token,
            running.kubeconfig,
            running.compact,
        )
