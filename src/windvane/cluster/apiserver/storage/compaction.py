"""A store forgets with time: after five to ten minutes, what happened before can't be asked for any more.

The real server does the same. Without it, whoever keeps a resourceVersion or a continue token for too long would meet
410 for the first time in production.
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
