"""Puts a small stand-in in the place of the API server, in every Python that has this directory in its PYTHONPATH."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from windvane.client.transport import Request
    from windvane.cluster.apiserver.answer import Answer, User


class StandInServer:
    """Says how often its data was opened, and has a watch that never says anything."""

    def __init__(self, path: Path | None, tokens: "Mapping[str, User]") -> None:
        self.tokens = tokens
        self._path = path
        self._opened = int(path.read_text()) + 1 if path and path.exists() else 1

    async def handle(self, request: "Request", user: "User") -> "Answer":
        from windvane.cluster.apiserver.answer import Answer

        if request.path == "/watch":
            return Answer(stream=_silence())
        return Answer(body=f"opened {self._opened} times by {user.name}".encode())

    async def start(self) -> None:
        pass

    async def close(self) -> None:
        if self._path is not None:
            self._path.write_text(str(self._opened))


async def _silence() -> AsyncGenerator[bytes]:
    yield b"one"
    await asyncio.Event().wait()


def open_server(
    path: Path | None,
    *,
    tokens: "Mapping[str, User]",
    key: object,
    require_accounts: bool,
    audit_log: object,
    service_network: str | None,
) -> StandInServer:
    """See `windvane.cluster.apiserver.server.open_server`."""
    from windvane.cluster.apiserver.store.durable import Unusable

    del key, require_accounts, audit_log, service_network
    if path is not None and (path.parent / "store.sqlite-broken").exists():
        raise Unusable("the store is broken: mend it")
    return StandInServer(path, tokens)


server = ModuleType("windvane.cluster.apiserver.server")
server.__dict__["open_server"] = open_server
sys.modules[server.__name__] = server
