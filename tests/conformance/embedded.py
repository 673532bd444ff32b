"""The embedded API server in a thread of its own, over HTTPS, seen as the corpus sees any server."""

import asyncio
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from conformance.servers import Server
from windvane.cluster.apiserver.answer import User
from windvane.cluster.apiserver.authentication.jwt import SigningKey
from windvane.cluster.apiserver.http.https_server import serve
from windvane.cluster.apiserver.server import APIServer, open_server
from windvane.cluster.pki import open_pki, write_private

ADMIN = User("admin", ("system:masters",), "1")
ORDINARY = User("ordinary", (), "2")
ORDINARY_TOKEN = "ordinary-token"


@contextmanager
def embedded_server(
    *, service_accounts: bool = False, admission_plugins: tuple[str, ...] = (), migrations: bool = False
) -> Iterator[Server]:
    """A server over memory alone, on a free port; with `service_accounts`, pods must have one that is there."""
    with tempfile.TemporaryDirectory(prefix="windvane-embedded-") as directory:
        opened = partial(
            open_server,
            require_accounts=service_accounts,
            admission_plugins=admission_plugins,
            migrations=migrations,
        )
        thread = _Thread(Path(directory), opened)
        thread.start()
        try:
            yield thread.server()
        finally:
            thread.stop()


class _Thread(threading.Thread):
    """Tests block and have loops of their own, so the server has a thread and a loop of its own."""

    def __init__(self, directory: Path, opened: Callable[..., APIServer]) -> None:
        super().__init__(name="embedded API server", daemon=True)
        self._directory = directory
        self._opened = opened
        self._ready = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._done = asyncio.Event()
        self._api: APIServer | None = None
        self._server: Server | None = None
        self._problem: BaseException | None = None

    def run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        except BaseException as error:  # noqa: BLE001 - told to whoever waits
            self._problem = error
        finally:
            self._ready.set()
            self._loop.close()

    def server(self) -> Server:
        self._ready.wait()
        if self._server is None:
            raise RuntimeError("the embedded API server did not start") from self._problem
        return self._server

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._done.set)
        self.join()

    def _forget(self) -> None:
        api = self._api
        assert api is not None
        asyncio.run_coroutine_threadsafe(api.store.compact(api.store.revision), self._loop).result()

    async def _serve(self) -> None:
        pki = open_pki(self._directory / "pki")
        tokens = {pki.admin_token: ADMIN, ORDINARY_TOKEN: ORDINARY}
        key = SigningKey(pki.service_account_key.read_bytes)
        self._api = api = self._opened(None, tokens=tokens, key=key)
        await api.start()
        async with serve(api.handle, pki=pki, tokens=api.tokens) as serving:
            kubeconfig = self._directory / "kubeconfig"
            write_private(kubeconfig, pki.kubeconfig(serving.url).encode())
            self._server = Server(
                "embedded",
                serving.url,
                pki.ca_certificate,
                pki.admin_token,
                ORDINARY_TOKEN,
                kubeconfig,
                self._forget,
            )
            self._ready.set()
            await self._done.wait()
        await api.close()
