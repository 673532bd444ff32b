"""Time: a Reservation holds for as long as it says, and then says that it has run out.

windvane run examples/come_back_later.py --install-crds

`return After(...)` brings the next pass even if nothing changes. What time it is comes from `ambient`, so that a test
can let days pass in a moment.
"""

from datetime import timedelta

from windvane import After, Context, Duration, Operator, Resource, Spec, Status, ambient


class ReservationSpec(Spec):
    lasts: Duration
    """For how long, from when it was made."""


class ReservationStatus(Status):
    expired: bool = False
    """Whether it has run out."""


class Reservation(Resource[ReservationSpec, ReservationStatus], group="examples.windvane.dev", version="v1"):
    """A name that is taken for a while."""


operator = Operator("reservations")


@operator.controller(Reservation)
async def reconcile(reservation: Reservation, ctx: Context) -> After | None:
    made = reservation.metadata.creation_timestamp
    assert made is not None, "the server sets it"
    left = made + reservation.spec.lasts - ambient.now()
    reservation.status.expired = left <= timedelta()
    ctx.ready(not reservation.status.expired, "it has run out" if reservation.status.expired else "it is yours")
    return None if reservation.status.expired else After(seconds=left.total_seconds())
