"""A cluster in memory that lives as long as the process that has started it: `python -m windvane.cluster.child DIR`.

It ends when its stdin does, also if that process is killed. On stdout it says `ready`, or in a line why it can't be.
"""

import asyncio
import sys
from pathlib import Path

from windvane.cluster.instance import DEFAULT_NAME, Instance, InstanceError, Process
from windvane.cluster.startup import run

READY = "ready"


async def _serve(directory: Path, pods: str) -> None:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await run(
        Instance(DEFAULT_NAME, directory),
        port=None,
        memory=True,
        controllers=True,
        pods=pods,
        started=_say_ready,
        until=reader.read(),
    )


def _say_ready(_: Process) -> None:
    _say(READY)


def _say(words: str) -> None:
    sys.stdout.write(f"{words}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        asyncio.run(_serve(Path(sys.argv[1]), sys.argv[2]))
    except InstanceError as error:
        _say(str(error).partition("\n")[0])
        sys.exit(1)
