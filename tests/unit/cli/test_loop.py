"""Commands that run until a signal: the first asks them to stop, the second does not ask."""

import signal
import subprocess
import sys

import pytest


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_stops_at_once(number: signal.Signals) -> None:
    # What it does when asked to stop takes forever; that it heard is all it says.
    code = """if True:
        import asyncio, sys
        from windvane.cli import loop

        async def main():
            asked = loop.asked_to_stop()
            print("ready", flush=True)
            print((await asked).name, flush=True)
            while True:
                try:
                    await asyncio.Event().wait()
                except asyncio.CancelledError:
                    pass

        loop.run(main())
    """
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "SIGTERM\n"
        process.send_signal(number)
        assert process.wait(timeout=60) == -number
