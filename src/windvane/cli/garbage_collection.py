"""Python's garbage collector while a command loads what it needs: all of that stays until the process ends."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_collected() -> Iterator[None]:
    """For the length of the block, there is no search for garbage; and what is there at its end is never searched.

    A few hundred modules are tens of thousands of objects. To go through them again and again while there are ever
    more takes a tenth of the CPU time of a cluster's start, and each time later is a pause that requests feel.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
