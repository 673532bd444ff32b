"""A finalizer: a Bucket is a directory outside of the cluster, which goes before the object does.

BUCKETS=/tmp/buckets windvane run examples/clean_up_outside.py --install-crds

The finalizer is on the object before the first directory is made, so none is ever forgotten; it is taken off when
`remove` has succeeded, and not before. Both functions may run again at any time, so both do nothing that was done.
"""

import asyncio
import os
import shutil
from pathlib import Path

from windvane import Context, Operator, Resource, Spec, Status


class BucketStatus(Status):
    path: str = ""
    """Where it is."""


class Bucket(Resource[Spec, BucketStatus], group="examples.windvane.dev", version="v1"):
    """A place for files."""


operator = Operator("buckets")


def place_of(bucket: Bucket) -> Path:
    return Path(os.environ.get("BUCKETS", "/tmp/buckets")) / bucket.metadata.uid


@operator.controller(Bucket)
async def reconcile(bucket: Bucket, ctx: Context) -> None:
    place = place_of(bucket)
    if not place.is_dir():
        place.mkdir(parents=True)
        ctx.event("Made", f"the directory {place}")
    bucket.status.path = str(place)


@operator.finalizer(Bucket)
async def remove(bucket: Bucket, ctx: Context) -> None:
    if any(place_of(bucket).glob("*.lock")):
        ctx.wait("a file in it is locked", after=10)
    # Deleting a large directory takes a while: in a thread, so that other objects are worked on meanwhile.
    await asyncio.to_thread(shutil.rmtree, place_of(bucket), ignore_errors=True)
