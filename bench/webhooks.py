"""What a webhook adds to a create: the same one, mutating and validating, written with windvane and controller-runtime.

Each is a process of its own on this machine, reached by URL over HTTPS. It puts a label on each new object, and is
asked again whether it may be stored. Objects are created one after the other by one client, on the real API server and
on the embedded one; p50 and p99 are those of a create. What counts is how they compare within one run.

    make bench-webhooks
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from apiserver import embedded
from parcels import Parcel, install, parcel
from processes import HERE, controller_runtime, running

from reference.controlplane import ReferenceControlPlane
from windvane import APIError, Client, ObjectMeta
from windvane.certificates import Authority
from windvane.k8s import admissionregistration as registration

PORT = 19443
NOBODY_SENDS = "somebody must send it"
CONFIGURATIONS = (registration.MutatingWebhookConfiguration, registration.ValidatingWebhookConfiguration)


@contextmanager
def on_embedded() -> Iterator[Path]:
    """The kubeconfig of the embedded API server."""
    with embedded() as (_, _, kubeconfig):
        yield kubeconfig


@contextmanager
def on_reference() -> Iterator[Path]:
    """The kubeconfig of the real one."""
    with ReferenceControlPlane() as reference:
        yield reference.kubeconfig


SERVERS: dict[str, Callable[[], AbstractContextManager[Path]]] = {"reference": on_reference, "embedded": on_embedded}


@asynccontextmanager
async def nothing(_: Client, __: Path) -> AsyncIterator[None]:
    """No webhook."""
    yield


@asynccontextmanager
async def windvane(client: Client, kubeconfig: Path) -> AsyncIterator[None]:
    """What `windvane run` makes of it: certificates and configurations are its own affair."""
    command = [sys.executable, "-m", "windvane.cli", "run", str(HERE / "webhooks_windvane.py")]
    options = [f"--webhook-port={PORT}", "--metrics-port=none", "--no-leader-elect"]
    async with running([*command, *options], kubeconfig):
        await guarded(client)
        yield


@asynccontextmanager
async def in_go(client: Client, kubeconfig: Path) -> AsyncIterator[None]:
    """The same in Go: somebody else has to bring a certificate, and to tell the API server of it."""
    authority = Authority.new()
    with tempfile.TemporaryDirectory() as directory:
        pair = authority.server("bench", ["127.0.0.1"])
        (Path(directory) / "tls.key").write_bytes(pair.key)
        (Path(directory) / "tls.crt").write_bytes(pair.public)
        command = [str(controller_runtime()), f"--webhook={PORT}", f"--certificates={directory}"]
        async with running(command, kubeconfig) as process:
            await process.says("started")
            for what, word in zip(CONFIGURATIONS, ("mutate", "validate"), strict=True):
                await client.create(configuration(what, word, authority.pair.public))
            await guarded(client)
            yield


def configuration(what: type[Any], word: str, ca: bytes) -> Any:
    """The configuration of one of Go's webhooks."""
    entry: Any = registration.MutatingWebhook if word == "mutate" else registration.ValidatingWebhook
    url = f"https://127.0.0.1:{PORT}/{word}-bench-windvane-dev-v1-parcel"
    rule = registration.RuleWithOperations(
        api_groups=["bench.windvane.dev"],
        api_versions=["v1"],
        resources=["parcels"],
        operations=["CREATE", "UPDATE"],
        scope="Namespaced",
    )
    hook = entry(
        name=f"{word}.bench.windvane.dev",
        client_config=registration.WebhookClientConfig(url=url, ca_bundle=ca),
        rules=[rule],
        side_effects="None",
        admission_review_versions=["v1"],
        timeout_seconds=5,
    )
    return what(metadata=ObjectMeta(name="guard"), webhooks=[hook])


CONTENDERS = {"no webhook": nothing, "windvane": windvane, "controller-runtime": in_go}


async def guarded(client: Client) -> None:
    """Wait until a bad parcel is refused, and a good one is labelled."""
    bad, good = parcel(0), parcel(1)
    bad.spec.sender = ""
    while True:
        await asyncio.sleep(0.05)
        try:
            made = await client.create(good, dry_run=True)
            await client.create(bad, dry_run=True)
        except APIError as error:
            if NOBODY_SENDS in str(error) and "guarded" in made.metadata.labels:
                return


async def creates(client: Client, count: int) -> list[float]:
    """How many milliseconds each of so many creates takes, one after the other."""
    took = []
    for number in range(count):
        began = time.perf_counter()
        await client.create(parcel(number))
        took.append(1000 * (time.perf_counter() - began))
    return took


async def clean(client: Client) -> None:
    """Nobody guards parcels any more, and there are none."""
    for what in CONFIGURATIONS:
        await client.delete_collection(what)
    await client.delete_collection(Parcel, namespace="default")


async def compare(kubeconfig: Path, count: int, rounds: int) -> dict[str, list[float]]:
    """Each contender in turn, a few times: how long creates took."""
    took: dict[str, list[float]] = {words: [] for words in CONTENDERS}
    async with Client.connect(kubeconfig=kubeconfig) as client:
        await install(client)
        await creates(client, 50)  # connections, caches
        await clean(client)
        for _ in range(rounds):
            for words, contender in CONTENDERS.items():
                async with contender(client, kubeconfig):
                    took[words] += await creates(client, count)
                await clean(client)
                print(words, round(statistics.median(took[words]), 2), "ms", file=sys.stderr, flush=True)
    return took


def row(server: str, words: str, took: list[float], bare: list[float]) -> str:
    """One line of the table: p50 and p99, and what they are more than without a webhook."""
    (p50, p99), (least, most) = (percentiles(each) for each in (took, bare))
    more = "" if took is bare else f"+{p50 - least:.1f}"
    worse = "" if took is bare else f"+{p99 - most:.1f}"
    return f"| {server} | {words} | {p50:.1f} | {more} | {p99:.1f} | {worse} |"


def percentiles(took: list[float]) -> tuple[float, float]:
    """p50 and p99."""
    cuts = statistics.quantiles(took, n=100)
    return cuts[49], cuts[98]


def main() -> None:
    """Run all contenders and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--count", type=int, default=500, help="creates in each round (default: 500)")
    parser.add_argument("--rounds", type=int, default=3, help="how often (default: 3)")
    parser.add_argument("--server", choices=SERVERS, help="only this one")
    asked = parser.parse_args()
    lines = ["| server | webhook | p50 ms | | p99 ms | |", "|---|---|---|---|---|---|"]
    for server in [asked.server] if asked.server else SERVERS:
        with SERVERS[server]() as kubeconfig:
            took = asyncio.run(compare(kubeconfig, asked.count, asked.rounds))
        lines += [row(server, words, each, took["no webhook"]) for words, each in took.items()]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
