"""Calls an author's function about an object: in its time, and whatever it does, with an end that can be answered.

It denies by `Denied`. What it raises else, by mistake or not, denies as well: the user is told in a few words, and the
log has the rest.
"""

import asyncio
import inspect
import logging
from typing import Any

from windvane.api.resource import Object
from windvane.runtime.admission import AdmissionHook, AdmissionRequest, Denied
from windvane.webhook.denial import ReviewRefused, failed

log = logging.getLogger(__name__)

FOR_THE_FUNCTION = 0.9
"""How much of the time that the API server waits is the function's; the rest is for saying that it took too long."""


async def call(hook: AdmissionHook, thing: Object, asked: AdmissionRequest[Any], about: str) -> bool:
    """Whether the function came to an end; `Denied` or `ReviewRefused`, if the request is to be denied.

    `about` is what the log says that it was about.
    """
    name = called(hook)
    limit = asyncio.timeout(hook.timeout * FOR_THE_FUNCTION)
    try:
        async with limit:
            returned: Any = hook.function(thing, asked) if hook.takes_request else hook.function(thing)
            if inspect.isawaitable(returned):
                returned = await returned
            if returned is not None:
                raise TypeError(_what_to_do_instead(name, returned))
    except (Denied, ReviewRefused):
        raise  # Refused: it looked at an old object that can't be read
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # we are stopped; else it is something that the function waited for
        log.exception("%s failed on %s %s", name, asked.operation, about)
        raise failed(without_details(name, "CancelledError")) from None
    except (Exception, SystemExit) as error:
        if isinstance(error, TimeoutError) and limit.expired():
            return _too_late(hook, name, about, asked)
        if isinstance(error, ExceptionGroup) and (denial := _denial_in(error)) is not None:
            raise denial from error
        log.exception("%s failed on %s %s", name, asked.operation, about)
        raise failed(without_details(name, type(error).__name__)) from error
    return True


def called(hook: AdmissionHook) -> str:
    """The name of its function."""
    return getattr(hook.function, "__name__", repr(hook.function))


def without_details(name: str, problem: str) -> str:
    """What a user is told of a failure. What the exception says may be confidential."""
    return f"{name} failed ({problem}); the log of the operator says more"


def _denial_in(group: ExceptionGroup[Exception]) -> Denied | None:
    """What one of the tasks of a function said, that waits for several at once."""
    for error in group.exceptions:
        found = _denial_in(error) if isinstance(error, ExceptionGroup) else error
        if isinstance(found, Denied):
            return found
    return None


def _too_late(hook: AdmissionHook, name: str, about: str, asked: AdmissionRequest[Any]) -> bool:
    log.warning("%s took longer than %g s on %s %s", name, hook.timeout, asked.operation, about)
    if hook.failure_policy == "Fail":
        raise failed(f"{name} took longer than {hook.timeout:g} s")
    asked.warn(f"{name} took longer than {hook.timeout:g} s, and was not waited for")
    return False


def _what_to_do_instead(name: str, returned: object) -> str:
    shown = f"a {type(returned).__name__}" if isinstance(returned, Object) else repr(returned)[:100]
    return (
        f"{name} returned {shown}; return nothing. To fill in, change the object that the function is given; to deny, "
        'write `raise Denied("...")`'
    )
