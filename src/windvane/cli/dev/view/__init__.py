"""The live view of `windvane dev`: objects, passes, Events and logs in a terminal, and keys that break things."""

from windvane.cli.dev.session import Session


async def show(session: Session) -> None:
    """Show what happens, until its user quits. OSError or the like ends it only if the terminal itself fails."""
    from windvane.cli.dev.view.app import View

    await View(session).run_async()
