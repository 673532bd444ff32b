"""Compaction: the store drops changes after five to ten minutes.

The real server does the same. Without it, a client that keeps a resourceVersion or a continue token for too long would
get its first 410 in production.
"""

from windvane import ambient
from windvane.cluster.apiserver.storage.store import Store

INTERVAL = 300.0  # seconds; what kube-apiserver does by default


async def forget_with_time(store: Store) -> None:
    """Forget, every five minutes, what was already there five minutes ago; until cancelled."""
    then = store.revision
    while True:
        await ambient.sleep(INTERVAL)
        await store.compact(then)
        then = store.revision
