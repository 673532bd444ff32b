"""Rules that Events must keep in both of their API groups."""

from windvane.api.json_value import Wire
from windvane.api.names import label_key_problems
from windvane.cluster.apiserver.registry.validation.problems import Problems

LONGEST = {"reportingInstance": 128, "action": 128, "reason": 128, "message": 1024}


def check(older: Wire, reporting: str, problems: Problems) -> None:
    """What is asked in both groups; more of Events that say when they happened, as those of the newer group do."""
    namespace, about = older["metadata"].get("namespace", ""), (older.get("involvedObject") or {}).get("namespace", "")
    if not older.get("eventTime"):
        if namespace != (about or "default"):
            problems.invalid("involvedObject.namespace", about, "does not match event.namespace")
        return
    if not about and namespace not in ("default", "kube-system"):
        problems.invalid("involvedObject.namespace", about, "does not match event.namespace")
    reporter = older.get("reportingComponent") or ""
    if not reporter:
        problems.required(reporting)
    problems.all_invalid(reporting, reporter, label_key_problems(reporter))
    for name, longest in LONGEST.items():
        value = older.get(name) or ""
        if not value and name != "message":
            problems.required(name)
        if len(value.encode()) > longest:
            problems.invalid(name, "", f"can have at most {longest} characters")
