"""Dials the ports of a pod, at the address that its kubelet gives."""

import asyncio
import os
from collections.abc import Awaitable, Callable

from windvane.cluster.kubelet import Kubelet, Unavailable
from windvane.k8s.core import Pod

TIMEOUT = 10.0
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dial = Callable[[int], Awaitable[Streams]]
"""Connects to a port of a pod; `OSError` says why it can't be, in the kubelet's words."""


def dial_pod(kubelet: Kubelet, pod: Pod) -> Dial:
    """How to connect to ports of this pod."""

    async def dial(port: int) -> Streams:
        about = f"error forwarding port {port} to pod {pod.metadata.name}, uid {pod.metadata.uid}: "
        try:
            host = kubelet.address(pod)  # once: the pod may end while we dial, and then has no address
        except Unavailable as error:
            raise ConnectionRefusedError(f"{about}{error}") from None
        try:
            async with asyncio.timeout(TIMEOUT):
                return await asyncio.open_connection(host, port)
        except TimeoutError:
            raise ConnectionRefusedError(f"{about}nobody answered within {TIMEOUT:g} s") from None
        except OSError as error:
            words = f"dial tcp4 {host}:{port}: connect: {os.strerror(error.errno or 0).lower()}"
            raise ConnectionRefusedError(f"{about}{words}") from None

    return dial
