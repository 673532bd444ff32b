"""Rules for the specs of Jobs, and of templates of Jobs."""

from windvane.api.json_value import Wire
from windvane.cluster.apiserver.registry.core.pod.validation import template
from windvane.cluster.apiserver.registry.validation.problems import OMITTED, Problems

INDEXED, NON_INDEXED = "Indexed", "NonIndexed"
_NUMBERS = (
    "parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
    "backoffLimitPerIndex", "maxFailedIndexes",
)  # fmt: skip
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")


def validate_job_spec(spec: Wire, path: str, problems: Problems) -> None:
    """Check the spec of a Job, or of a template of Jobs."""
    for field in _NUMBERS:
        problems.not_negative(f"{path}.{field}", spec.get(field))
    if "maxFailedIndexes" in spec and "backoffLimitPerIndex" not in spec:
        problems.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    mode = spec.get("completionMode", NON_INDEXED)
    if mode not in (NON_INDEXED, INDEXED):
        problems.unsupported(f"{path}.completionMode", mode, (NON_INDEXED, INDEXED))
    if mode == INDEXED and spec.get("completions") is None:
        problems.required(f"{path}.completions", f"when completion mode is {INDEXED}")
    if mode == NON_INDEXED:
        for field in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if field in spec:
                problems.invalid(f"{path}.{field}", spec[field], "requires indexed completion mode")
    elif spec.get("maxFailedIndexes", 0) > spec.get("completions", 2**31):
        problems.invalid(
            f"{path}.maxFailedIndexes", spec["maxFailedIndexes"], "must be less than or equal to completions"
        )
    if "podFailurePolicy" in spec:
        _failure_policy(spec, f"{path}.podFailurePolicy", problems)
    replacement = spec.get("podReplacementPolicy")
    supported = ("Failed",) if "podFailurePolicy" in spec else ("Failed", "TerminatingOrFailed")
    if replacement is not None and replacement not in supported:
        problems.unsupported(f"{path}.podReplacementPolicy", replacement, supported)
    template(spec["template"], f"{path}.template", problems)
    policy, here = spec["template"]["spec"]["restartPolicy"], f"{path}.template.spec.restartPolicy"
    if policy == "Always":
        problems.required(here, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        problems.unsupported(here, policy, ("OnFailure", "Never"))
    elif "podFailurePolicy" in spec and policy != "Never":
        problems.invalid(here, policy, 'only "Never" is supported when podFailurePolicy is specified')


def _failure_policy(spec: Wire, path: str, problems: Problems) -> None:
    for index, rule in enumerate(spec["podFailurePolicy"].get("rules") or ()):
        here, action = f"{path}.rules[{index}]", rule.get("action")
        if not action:
            listed = " ".join(f'"{each}"' for each in _ACTIONS)
            problems.required(f"{here}.action", f"valid values: [{listed}]")
        elif action == "FailIndex":
            if "backoffLimitPerIndex" not in spec:
                problems.invalid(f"{here}.action", action, "requires the backoffLimitPerIndex to be set")
        elif action not in _ACTIONS:
            problems.unsupported(f"{here}.action", action, _ACTIONS)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if codes is not None:
            _exit_codes(codes, f"{here}.onExitCodes", problems)
        if codes is not None and conditions:
            problems.invalid(here, OMITTED, "specifying both OnExitCodes and OnPodConditions is not supported")
        if codes is None and not conditions:
            problems.invalid(here, OMITTED, "specifying one of OnExitCodes and OnPodConditions is required")


def _exit_codes(codes: Wire, path: str, problems: Problems) -> None:
    operator, values = codes.get("operator"), codes.get("values") or []
    if operator not in ("In", "NotIn"):
        problems.unsupported(f"{path}.operator", operator or "", ("In", "NotIn"))
    if not values:
        problems.invalid(f"{path}.values", codes.get("values"), "at least one value is required")
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            problems.invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator")
        if value in values[:index]:
            problems.duplicate(f"{path}.values[{index}]", value)
    if values != sorted(values):
        problems.invalid(f"{path}.values", values, "must be ordered")
