"""All built-in controllers as one operator, with one watch per kind: what kube-controller-manager is to a cluster."""

from collections.abc import Callable

from windvane.client.client import Client
from windvane.runtime.operator import Operator

NAME = "kube-controller-manager"

CONTROLLERS: tuple[Callable[[Operator], None], ...] = ()
"""What adds a controller to the operator; each is the `add_to` of its module."""


def controllers() -> Operator:
    """The operator that keeps the built-in kinds as their objects say."""
    operator = Operator(NAME)
    for add_to in CONTROLLERS:
        add_to(operator)
    return operator


async def run_controllers(client: Client) -> None:
    """Have all of them work until cancelled."""
    await controllers().run(client)
