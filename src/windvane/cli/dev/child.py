"""What each child of `windvane dev` begins as: it runs another module, and never outlives its parent.

    python -m windvane.cli.dev.child PARENT MODULE [ARGUMENT...]

On Linux the kernel sees to that, also if the child stands still. Elsewhere the end of standard input does, which the
parent holds the other side of.
"""

import os
import runpy
import signal
import sys
import threading

PR_SET_PDEATHSIG = 1


def main(words: list[str]) -> None:
    """Run the module as `python -m` would."""
    parent, module, *arguments = words
    end_with(int(parent))
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


def end_with(parent: int) -> None:
    """Have this process killed when the parent ends, however it does."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before we could say so
            os._exit(1)
    else:
        threading.Thread(target=_wait_for_end_of_input, daemon=True).start()


def _wait_for_end_of_input() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    main(sys.argv[1:])
