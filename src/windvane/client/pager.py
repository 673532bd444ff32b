"""Lists, page by page: each item keeps its bytes until the object is asked for.

There are three ways to have a list:

    pods = await client.list(core.Pod)               # all of them; pods[0] is decoded when you look at it
    async for pod in client.list(core.Pod): ...      # one page in memory at a time
    async for page in client.list(core.Pod).pages(): page.resource_version, page.items
"""

from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, overload

import msgspec

from windvane.api.envelope import Item
from windvane.api.meta import ListMeta
from windvane.api.resource import Object
from windvane.client.calls import Calls
from windvane.client.errors import Gone, Unreadable
from windvane.client.transport import Request

ObjectT = TypeVar("ObjectT", bound=Object)


class _ListHead(msgspec.Struct):
    """A list with its items still unread."""

    # No default: something that is not a list must not pass for an empty one. Go writes null for none.
    items: list[msgspec.Raw] | None
    metadata: ListMeta = msgspec.field(default_factory=ListMeta)


_head_decoder = msgspec.json.Decoder(_ListHead)


class Page(Sequence[ObjectT], Generic[ObjectT]):
    """Objects of a list, decoded one by one as they are looked at; `items` has them undecoded."""

    def __init__(self, items: list[Item[ObjectT]], meta: ListMeta) -> None:
        self.items = items
        self.meta = meta

    @property
    def resource_version(self) -> str:
        """The version of the whole list: a watch from here misses nothing."""
        return self.meta.resource_version

    def __len__(self) -> int:
        return len(self.items)

    @overload
    def __getitem__(self, index: int) -> ObjectT: ...
    @overload
    def __getitem__(self, index: slice) -> list[ObjectT]: ...
    def __getitem__(self, index: int | slice) -> ObjectT | list[ObjectT]:
        if isinstance(index, slice):
            return [item.decode() for item in self.items[index]]
        return self.items[index].decode()

    def __iter__(self) -> Iterator[ObjectT]:
        return (item.decode() for item in self.items)

    def __repr__(self) -> str:
        return f"<Page of {len(self.items)} at {self.resource_version}>"


def read_page(body: bytes, what: type[ObjectT], request: Request) -> Page[ObjectT]:
    """The page that a list request was answered with."""
    try:
        head = _head_decoder.decode(body)
        # bytes() copies: a view would keep the whole page in memory for as long as one of its items lives.
        return Page([Item(bytes(raw), what) for raw in head.items or ()], head.metadata)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unreadable(f"{request}: the answer is not a list of objects: {error}") from error


class Pager(Generic[ObjectT]):
    """A list that was asked for: await it for all of it, or iterate to have it page by page."""

    def __init__(self, calls: Calls, request: Request, what: type[ObjectT], page_size: int) -> None:
        self._calls = calls
        self._request = request
        self._what = what
        self._page_size = page_size

    def __await__(self) -> Generator[Any, Any, Page[ObjectT]]:
        return self._all().__await__()

    async def __aiter__(self) -> AsyncIterator[ObjectT]:
        async for page in self.pages():
            for thing in page:
                yield thing

    async def pages(self) -> AsyncGenerator[Page[ObjectT]]:
        """One page after the other, all of one moment. `Gone` if reading took so long that the moment is forgotten."""
        resume = ""
        while True:
            page = await self._page(self._page_size, resume)
            yield page
            resume = page.meta.continue_
            if not resume:
                return

    async def _all(self) -> Page[ObjectT]:
        items: list[Item[ObjectT]] = []
        meta = ListMeta()
        try:
            async for page in self.pages():
                items += page.items
                meta = page.meta
        except Gone:
            # The rest of that moment is gone, so take one whole list instead: slower for the server, but of one moment.
            return await self._page(0, "")
        return Page(items, meta)

    async def _page(self, limit: int, resume: str) -> Page[ObjectT]:
        query = list(self._request.query)
        if limit:
            query.append(("limit", str(limit)))
        if resume:
            # The token holds the version; the server refuses to be told both.
            query = [(key, value) for key, value in query if not key.startswith("resourceVersion")]
            query.append(("continue", resume))
        request = replace(self._request, query=query)
        return read_page(await self._calls.call(request), self._what, request)
