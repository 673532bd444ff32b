"""The contender of bench/webhooks.py that is written with windvane."""

from parcels import Parcel

from windvane import Denied, Operator

operator = Operator("guard")


@operator.default(Parcel)
def label(parcel: Parcel) -> None:
    """Put a label on each."""
    parcel.metadata.labels["guarded"] = "yes"


@operator.validate(Parcel)
def check(parcel: Parcel) -> None:
    """Somebody sends each."""
    if not parcel.spec.sender:
        raise Denied("somebody must send it")
