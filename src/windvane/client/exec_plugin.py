"""Exec plugins: commands that print credentials, such as a cloud provider's login tool.

The protocol is Kubernetes' `client.authentication.k8s.io`: the command finds out what it is asked in the variable
KUBERNETES_EXEC_INFO and prints an ExecCredential with a token, a client certificate, or both.
"""

import asyncio
import logging
import os
import shutil
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec

from windvane import ambient
from windvane.client.credentials import CredentialsError, bearer

log = logging.getLogger(__name__)

# Credentials are renewed this long before they expire, so that none expires between us and the server.
EXPIRY_MARGIN = timedelta(seconds=10)

# How long a plugin may take when no user sits at a terminal to answer its questions.
UNATTENDED_TIMEOUT = 60.0


class ExecEnv(msgspec.Struct, frozen=True):
    """An environment variable for an exec plugin."""

    name: str
    value: str = ""


class ExecCommand(msgspec.Struct, frozen=True, rename="camel"):
    """The `exec` part of a kubeconfig's user: a command that prints credentials."""

    command: str = ""
    args: list[str] = []
    env: list[ExecEnv] = []
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class _Status(msgspec.Struct, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None


class _ExecCredential(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: _Status | None = None


@dataclass(frozen=True)
class _Issued:
    """What one run of a plugin gave us."""

    headers: Mapping[str, str]
    certificate: tuple[bytes, bytes] | None
    expires: datetime | None


class ExecPlugin:
    """Credentials printed by a command, such as a cloud provider's login tool.

    `cluster` is what the command is told about the cluster, if it is told anything, `source` says whose
    plugin this is in errors, and `environ` is the environment that the command's own variables add to.
    """

    def __init__(
        self,
        command: ExecCommand,
        *,
        source: str,
        cluster: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] = os.environ,
        timeout: float = UNATTENDED_TIMEOUT,
    ) -> None:
        self._command = command
        self._source = source
        self._cluster = cluster
        self._environ = environ
        self._timeout = timeout
        self._generation = 0
        self._issued: _Issued | None = None
        self._refused = False
        self._running = asyncio.Lock()  # one run at a time: a plugin may ask questions, or open a browser

    @property
    def generation(self) -> int:
        return self._generation

    async def headers(self) -> Mapping[str, str]:
        if (issued := self._usable()) is None:
            async with self._running:
                # The process that held the lock may have fetched what we need.
                if (issued := self._usable()) is None:
                    issued = await self._renew()
        return issued.headers

    async def invalidate(self) -> bool:
        self._refused = True
        return True

    def client_certificate(self) -> tuple[bytes, bytes] | None:
        return self._issued.certificate if self._issued else None

    def _usable(self) -> _Issued | None:
        if self._issued is None or self._refused:
            return None
        if self._issued.expires is not None and ambient.now() >= self._issued.expires - EXPIRY_MARGIN:
            return None
        return self._issued

    async def _renew(self) -> _Issued:
        issued = self._understand(await self._run())
        if issued.certificate != self.client_certificate():
            self._generation += 1
        self._issued = issued
        # Here and not before the run: a 401 that came in meanwhile was about the old credentials too.
        self._refused = False
        return issued

    async def _run(self) -> bytes:
        """Run the command and return what it printed; don't leave it running on timeout or when cancelled."""
        interactive = self._interactive()
        info = {
            "kind": "ExecCredential",
            "apiVersion": self._command.api_version,
            "spec": {"interactive": interactive} | ({"cluster": self._cluster} if self._cluster else {}),
        }
        environ = {**self._environ, **{variable.name: variable.value for variable in self._command.env}}
        environ["KUBERNETES_EXEC_INFO"] = msgspec.json.encode(info).decode()
        program = shutil.which(self._command.command, path=self._environ.get("PATH"))
        if program is None:
            raise self._not_found()
        starting = asyncio.get_running_loop().create_task(
            asyncio.create_subprocess_exec(
                program,
                *self._command.args,
                env=environ,
                stdin=None if interactive else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                # At a terminal, a person must see "open this page, enter this code" while it still matters.
                stderr=None if interactive else asyncio.subprocess.PIPE,
                start_new_session=not interactive,
            )
        )
        try:
            # It runs before asyncio says so. Cancelled in between, asyncio kills the command alone, and not what that
            # has started: so the start is seen through.
            await asyncio.wait([starting])
            process = starting.result()
        except asyncio.CancelledError:
            with suppress(OSError):
                await _end(await starting, alone=interactive)
            raise
        except OSError as error:
            raise self._error(f"could not be started: {error.strerror}") from error
        try:
            async with asyncio.timeout(None if interactive else self._timeout):
                printed, complaints = await process.communicate()
        except TimeoutError:
            raise self._error(
                f"did not finish within {self._timeout:g} seconds. Run it by hand to see what it waits for"
            ) from None
        finally:
            await _end(process, alone=interactive)
        if process.returncode != 0:
            raise self._error(f"failed with exit code {process.returncode}{_tail(complaints)}")
        return printed

    def _interactive(self) -> bool:
        """Whether the command gets our standard input."""
        mode = self._command.interactive_mode
        terminal = os.isatty(0)
        if mode == "Always" and not terminal:
            raise self._error(
                "must ask questions (interactiveMode is Always), but standard input is not a terminal. "
                "Log in from a terminal first, or use credentials that need no person"
            )
        return mode != "Never" and terminal

    def _understand(self, printed: bytes) -> _Issued:
        try:
            credential = msgspec.json.decode(printed, type=_ExecCredential)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            # What it printed stays out of the message: it may be a token.
            raise self._error(f"must print an ExecCredential as JSON, and nothing else: {error}") from None
        if credential.kind != "ExecCredential":
            raise self._error(f'must print kind "ExecCredential", not "{credential.kind}"')
        if credential.api_version != self._command.api_version:
            raise self._error(
                f'printed apiVersion "{credential.api_version}", but the kubeconfig says '
                f'"{self._command.api_version}": make the kubeconfig and the version of the plugin agree'
            )
        status = credential.status or _Status()
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise self._error("printed only one of clientCertificateData and clientKeyData: both are needed")
        certificate = None
        if status.client_certificate_data and status.client_key_data:
            certificate = (status.client_certificate_data.encode(), status.client_key_data.encode())
            if not all(b"-----BEGIN " in pem for pem in certificate):
                raise self._error("printed a client certificate or key that is not PEM")
        elif not status.token:
            raise self._error("printed neither a status.token nor a client certificate. Perhaps you must log in first")
        headers = bearer(status.token, f"The token of {self._name}") if status.token else {}
        return _Issued(headers, certificate, status.expiration_timestamp)

    @property
    def _name(self) -> str:
        return f'the exec plugin "{self._command.command}" of {self._source}'

    def _error(self, problem: str) -> CredentialsError:
        return CredentialsError(f"T{self._name[1:]} {problem}.")

    def _not_found(self) -> CredentialsError:
        where = "does not exist or is not executable" if os.sep in self._command.command else "is not on the PATH"
        hint = f"\n{_printable(self._command.install_hint)}" if self._command.install_hint else " Install it."
        return CredentialsError(f"{self._error(where)}{hint}")


async def _end(process: asyncio.subprocess.Process, *, alone: bool) -> None:
    """Kill a command that runs, `alone` if it has no session of its own, and wait until it is gone."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        if alone or sys.platform == "win32":
            process.kill()
        else:
            # With all that it started: many plugins are shell scripts around the program that hangs.
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


def _tail(stderr: bytes | None) -> str:
    """The end of what a command complained about: the last lines say why it gave up."""
    lines = _printable((stderr or b"").decode(errors="replace")).strip().splitlines()
    return ":\n" + "\n".join(lines[-10:])[-2000:] if lines else " and said nothing about it"


def _printable(text: str) -> str:
    """`text` without characters that could play tricks on a terminal or a log."""
    return "".join(character for character in text if character.isprintable() or character in "\n\t")
