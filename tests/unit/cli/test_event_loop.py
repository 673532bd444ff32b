"""Commands that run until a signal: the first asks them to stop, the second does not ask."""

import signal
import subprocess
import sys

import pytest

# What it does when asked to stop takes forever; that it heard is all it says.
ENDLESS = """if True:
    import asyncio, functools
    from windvane.cli import event_loop

    async def main():
        asked = event_loop.asked_to_stop()
        print("ready", flush=True)
        print((await asked).name, flush=True)
        later = functools.partial(print, "a moment has passed", flush=True)
        asyncio.get_running_loop().call_later(event_loop.MOMENT + 0.05, later)
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                pass

    event_loop.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_stops_at_once(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "SIGTERM\n"
        assert process.stdout.readline() == "a moment has passed\n"
        process.send_signal(number)
        assert process.wait(timeout=60) == -number


def test_two_signals_in_one_moment_are_one() -> None:
    """As `timeout` sends them, and whatever passes on a Ctrl-C that the terminal has sent to all already."""
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "SIGTERM\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "a moment has passed\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT
