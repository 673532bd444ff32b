"""Shared state: Tickets get their numbers from a database that is opened once, for all passes.

TICKETS=/tmp/tickets.db windvane run examples/open_once.py --install-crds

What a lifespan opens before its `yield` is there before the first pass, and what is after it runs when the last one has
ended. It stands for an HTTP session, a pool of connections, a client of some provider.
"""

import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing

from windvane import Client, Context, Operator, Resource, Spec, Status


class TicketStatus(Status):
    number: int = 0
    """Its place in the line."""


class Ticket(Resource[Spec, TicketStatus], group="examples.windvane.dev", version="v1"):
    """A place in a line."""


operator = Operator("tickets")


@operator.lifespan
async def database(_client: Client) -> AsyncIterator[sqlite3.Connection]:
    with closing(sqlite3.connect(os.environ.get("TICKETS", "/tmp/tickets.db"), isolation_level=None)) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS tickets (number INTEGER PRIMARY KEY, uid TEXT UNIQUE)")
        print("the database is open")
        yield connection
    print("the database is closed")


@operator.controller(Ticket)
async def reconcile(ticket: Ticket, ctx: Context) -> None:
    connection = ctx.value(database)
    mine = (ticket.metadata.uid,)
    connection.execute("INSERT OR IGNORE INTO tickets (uid) VALUES (?)", mine)
    (ticket.status.number,) = connection.execute("SELECT number FROM tickets WHERE uid = ?", mine).fetchone()
    ctx.ready(True, f"number {ticket.status.number}")
