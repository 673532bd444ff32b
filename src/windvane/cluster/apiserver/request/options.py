"""The options in a request's query, checked in the real server's words."""

from collections.abc import Mapping, Sequence

from windvane.api.status import StatusCause, StatusDetails
from windvane.api.wording import forbidden, invalid, required, too_long, unsupported
from windvane.cluster.apiserver.failure import Failure, bad_request, failure

Query = dict[str, str]
LONGEST_MANAGER = 128
WITH_CONTINUE = "resourceVersionMatch is forbidden when continue is provided"
PROPAGATIONS = ("Foreground", "Background", "Orphan")


def read_query(query: Sequence[tuple[str, str]]) -> Query:
    """The query by name. The first of a name counts, as with the real server.

    Authorization and the rest of the server must read it in the same way, or a request could do what was not allowed.
    """
    return dict(reversed(query))


def check_options(verb: str, query: Query) -> None:
    """Refuse options that are malformed or invalid for the verb."""
    for name in ("limit", "timeoutSeconds", "gracePeriodSeconds"):
        whole_number(query, name)
    match verb:
        case "list":
            _refuse("ListOptions", _list_problems(query))
        case "watch":
            _refuse("ListOptions", _watch_problems(query))
        case "create" | "update" | "patch":
            _refuse(f"{verb.capitalize()}Options", _write_problems(verb, query))
        case "apply":
            _refuse("PatchOptions", _write_problems(verb, query))
        case "delete" | "deletecollection":
            _refuse("DeleteOptions", _dry_run_problems(query))


def is_on(query: Mapping[str, str], name: str) -> bool:
    """Whether a flag in the query is set to anything but `false` or `0`."""
    return query.get(name, "false").lower() not in ("false", "0")


def whole_number(query: Query, name: str) -> int | None:
    """A number in the query; None if it is absent."""
    if (text := query.get(name)) is None:
        return None
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not digits.isascii() or not digits.isdecimal():
        raise bad_request(f'strconv.ParseInt: parsing "{text[:100]}": invalid syntax')
    if len(digits) > 18:
        raise bad_request(f'strconv.ParseInt: parsing "{text[:100]}": value out of range')
    return int(text)


def propagation_problems(propagation: str, orphan_dependents: bool | None) -> list[StatusCause]:
    """What is wrong with a `propagationPolicy`."""
    if propagation and orphan_dependents is not None:
        why = "orphanDependents and deletionPropagation cannot be both set"
        return [invalid("propagationPolicy", propagation, why)]
    if propagation and propagation not in PROPAGATIONS:
        return [unsupported("propagationPolicy", propagation, [*PROPAGATIONS, "nil"])]
    return []


def refuse_options(kind: str, causes: Sequence[StatusCause]) -> None:
    """Refuse options with these causes, if there are any."""
    _refuse(kind, causes)


def _refuse(kind: str, causes: Sequence[StatusCause]) -> None:
    if causes:
        raise _invalid_options(kind, causes)


def _invalid_options(kind: str, causes: Sequence[StatusCause]) -> Failure:
    problems = [f"{cause.field}: {cause.message}" for cause in causes]
    listed = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
    details = StatusDetails(group="meta.k8s.io", kind=kind, causes=list(causes))
    return failure(422, "Invalid", f'{kind}.meta.k8s.io "" is invalid: {listed}', details)


def _write_problems(verb: str, query: Query) -> list[StatusCause]:
    causes = []
    if verb == "patch" and "force" in query:
        causes.append(forbidden("force", "may not be specified for non-apply patch"))
    manager = query.get("fieldManager", "")
    if verb == "apply" and not manager:
        causes.append(required("fieldManager", "is required for apply patch"))
    if len(manager.encode()) > LONGEST_MANAGER:
        causes.append(too_long("fieldManager", LONGEST_MANAGER))
    for position, character in enumerate(manager):
        if not character.isprintable():
            at = len(manager[:position].encode())
            why = f"invalid character {_code_point(character)} (at position {at})"
            causes.append(invalid("fieldManager", manager, why))
    causes += _dry_run_problems(query)
    how = query.get("fieldValidation", "")
    if how not in ("", "Ignore", "Warn", "Strict"):
        causes.append(unsupported("fieldValidation", how, ["", "Ignore", "Strict", "Warn"]))
    return causes


def _code_point(character: str) -> str:
    return f"U+{ord(character):04X}"


def _dry_run_problems(query: Query) -> list[StatusCause]:
    if "dryRun" not in query or query["dryRun"] == "All":
        return []
    return [unsupported("dryRun", [query["dryRun"]], ["All"])]


def _list_problems(query: Query) -> list[StatusCause]:
    match, version = query.get("resourceVersionMatch", ""), query.get("resourceVersion", "")
    causes = []
    if match:
        if query.get("continue"):
            causes.append(
                forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided")
            )
        if not version:
            why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
            causes.append(forbidden("resourceVersionMatch", why))
        if match not in ("Exact", "NotOlderThan"):
            causes.append(unsupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]))
        if match == "Exact" and version == "0":
            why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            causes.append(forbidden("resourceVersionMatch", why))
    if "sendInitialEvents" in query:
        causes.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return causes


def _watch_problems(query: Query) -> list[StatusCause]:
    match = query.get("resourceVersionMatch", "")
    causes = []
    if "sendInitialEvents" in query and match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(forbidden("resourceVersionMatch", why))
    elif match and "sendInitialEvents" not in query:
        why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
        causes.append(forbidden("resourceVersionMatch", why))
    if match not in ("", "NotOlderThan"):
        causes.append(unsupported("resourceVersionMatch", match, ["NotOlderThan"]))
    if query.get("continue"):
        causes.append(forbidden("resourceVersionMatch", WITH_CONTINUE))
    return causes


class FieldValidation:
    """`fieldValidation`: whether unknown and duplicate fields are ignored, warned about or refused."""

    def __init__(self, how: str, warnings: list[str]) -> None:
        self.ignores = how == "Ignore"
        self._strict = how == "Strict"
        self._warnings = warnings

    def reason_to_refuse(self, complaints: list[str]) -> str:
        """Why an object with these complaints is refused; empty if it is accepted, perhaps with warnings.

        The warnings replace those of an earlier attempt: a patch may be tried again.
        """
        if complaints and self._strict:
            return f"strict decoding error: {', '.join(complaints)}"
        self._warnings[:] = [] if self.ignores else [line for each in complaints for line in _told(each)]
        return ""


def _told(complaint: str) -> list[str]:
    """The warnings of a complaint: one for each line about a YAML body."""
    return [line.strip() for line in complaint.removeprefix("yaml: unmarshal errors:\n").split("\n")]
