"""The health endpoints `/healthz`, `/livez` and `/readyz`: whether the server is well, in words that probes expect.

`?verbose` lists the checks, `?exclude=etcd` leaves one out, `/livez/etcd` asks one alone.
"""

import json
from collections.abc import Callable, Mapping, Sequence

from windvane.cluster.apiserver.answer import NOSNIFF, Answer, page_not_found, text

ENDPOINTS = frozenset({"healthz", "livez", "readyz"})

Check = Callable[[], str | None]
"""A health check: what is wrong; None if it passes."""


def answer(path: str, query: Sequence[tuple[str, str]], checks: Mapping[str, Check]) -> Answer | None:
    """The answer to GET `path`; None if it is not one of these endpoints."""
    endpoint, slash, name = path.removeprefix("/").partition("/")
    if endpoint not in ENDPOINTS:
        return None
    if not slash:
        return _all(endpoint, query, checks)
    if name not in checks:
        return page_not_found()
    problem = checks[name]()
    return text(500, f"internal server error: {problem}\n", NOSNIFF) if problem else text(200, "ok")


def _all(endpoint: str, query: Sequence[tuple[str, str]], checks: Mapping[str, Check]) -> Answer:
    excluded = {value for key, value in query if key == "exclude"}
    lines = []
    healthy = True
    for name, check in checks.items():
        if name in excluded:
            lines.append(f"[+]{name} excluded: ok")
        elif check():
            # A client that may read this path may not be allowed to know why.
            lines.append(f"[-]{name} failed: reason withheld")
            healthy = False
        else:
            lines.append(f"[+]{name} ok")
    if unknown := sorted(excluded - checks.keys()):
        quoted = ",".join(json.dumps(name, ensure_ascii=False) for name in unknown)
        lines.append(f"warn: some health checks cannot be excluded: no matches for {quoted}")
    lines.append(f"{endpoint} check {'passed' if healthy else 'failed'}")
    report = "\n".join(lines) + "\n"
    if not healthy:
        return text(500, report, NOSNIFF)
    verbose = any(key == "verbose" for key, _ in query)
    return text(200, report if verbose else "ok", NOSNIFF)
