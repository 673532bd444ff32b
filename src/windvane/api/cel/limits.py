"""What running rules may cost, in the server's units, and what happens when it costs more."""

PER_CALL_LIMIT = 1_000_000
"""What one evaluation of one rule may cost."""
OBJECT_BUDGET = 10_000_000
"""What all rules may cost for one object."""


class TooExpensive(Exception):
    """One evaluation costs more than any may. No part of an expression can do without this."""
