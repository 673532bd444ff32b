"""What the benchmarks fill an API server with: parcels, custom resources of about 1.6 KB."""

import asyncio

from windvane import Client, Column, NotFound, ObjectMeta, Resource, Spec, Status, crd


class ParcelSpec(Spec):
    sender: str
    note: str
    steps: list[str] = []
    weight: int = 1


class Parcel(
    Resource[ParcelSpec, Status], group="bench.windvane.dev", version="v1", columns=[Column("Weight", ".spec.weight")]
):
    """Something to carry."""


def parcel(number: int) -> Parcel:
    """An object of about 1.6 KB as the server sends it, managed fields included."""
    return Parcel(
        metadata=ObjectMeta(
            name=f"parcel-{number:05d}",
            labels={"app": "post", "shelf": str(number % 100), "route": f"r{number % 7}"},
            annotations={"bench.windvane.dev/origin": f"depot-{number % 50}"},
        ),
        spec=ParcelSpec(
            sender=f"sender-{number}",
            note="handle with care " * 20,
            steps=[f"step {n}: from depot {n} to depot {n + 1}" for n in range(12)],
            weight=number % 30,
        ),
    )


async def install(client: Client) -> None:
    """Have an API server serve parcels."""
    await client.apply(crd(Parcel))
    while True:
        try:
            await client.list(Parcel, page_size=1)
            return
        except NotFound:
            await asyncio.sleep(0.1)
