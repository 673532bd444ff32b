"""A cluster in the foreground: it runs in this process until somebody asks it to stop."""

from collections.abc import Callable
from pathlib import Path

from windvane.cli import loop
from windvane.cluster.apiserver.server import open_server
from windvane.cluster.apiserver.store.durable import Unusable
from windvane.cluster.instance import Instance, InstanceError, Process, run


def run_until_signal(
    instance: Instance,
    *,
    port: int | None,
    memory: bool,
    controllers: bool,
    pods: str,
    nodes: int,
    host_paths: bool,
    audit_log: Path | None,
    started: Callable[[Process], None],
) -> None:
    """Run the cluster until Ctrl-C or SIGTERM. `started` is called when it can be used."""

    async def serve() -> None:
        try:
            await run(
                instance,
                open_server,
                port=port,
                memory=memory,
                controllers=controllers,
                pods=pods,
                nodes=nodes,
                host_paths=host_paths,
                audit_log=audit_log,
                started=started,
                until=loop.asked_to_stop(),
            )
        except Unusable as error:
            raise InstanceError(str(error)) from error

    loop.run(serve())
