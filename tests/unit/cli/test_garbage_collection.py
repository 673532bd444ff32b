"""What is loaded at the start is left alone by the garbage collector, and what comes later is not."""

import gc

import pytest

from windvane.cli.garbage_collection import nothing_collected


def test_nothing_is_collected_while_loading_and_what_was_loaded_is_left_alone_later() -> None:
    try:
        with nothing_collected():
            assert not gc.isenabled()
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_collecting_goes_on_when_loading_fails() -> None:
    try:
        with pytest.raises(ImportError), nothing_collected():
            raise ImportError
        assert gc.isenabled()
    finally:
        gc.unfreeze()
