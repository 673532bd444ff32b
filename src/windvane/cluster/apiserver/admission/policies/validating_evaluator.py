"""One ValidatingAdmissionPolicy, compiled, which evaluates requests."""

from typing import Any

from windvane.api.cel.types import BOOL, NULL, STRING
from windvane.api.cel.values import type_name
from windvane.api.json_value import Wire
from windvane.cluster.apiserver.admission.policies.verdict import Objection, Verdict
from windvane.cluster.apiserver.expressions import (
    BUDGET,
    Activation,
    Compiled,
    ConditionError,
    MatchConditions,
    OutOfBudget,
    Result,
    Scope,
)

_LONGEST_MESSAGE = 5 * 1024


class ValidatingPolicy:
    """The expressions of a policy."""

    def __init__(self, spec: Wire) -> None:
        self._scope = Scope(params=spec.get("paramKind") is not None, variables=spec.get("variables") or [])
        self._conditions = MatchConditions(spec.get("matchConditions") or [], self._scope)
        self._validations: list[Wire] = spec.get("validations") or []
        self._compiled = [self._scope.compile(each.get("expression", ""), BOOL) for each in self._validations]
        self._messages = [self._message_expression(each) for each in self._validations]
        self._annotations: list[Wire] = spec.get("auditAnnotations") or []
        self._values = [self._scope.compile(each["valueExpression"], STRING, NULL) for each in self._annotations]
        self._ignores_errors = spec.get("failurePolicy") == "Ignore"

    def _message_expression(self, validation: Wire) -> Compiled | None:
        text = validation.get("messageExpression")
        return self._scope.compile(text, STRING, authorizer=False) if text else None

    def judge(self, given: Activation) -> Verdict:
        """Evaluate a request; an error counts as an objection unless `failurePolicy` is Ignore."""
        try:
            if not self._conditions.met(given):
                return Verdict()
            results, left = self._scope.evaluate(self._compiled, given, BUDGET)
            verdict = Verdict(self._objections(given, results, left))
            self._annotate(given, verdict)
        except (ConditionError, OutOfBudget) as error:
            return Verdict([] if self._ignores_errors else [Objection(str(error))])
        return verdict

    def _objections(self, given: Activation, results: list[Result], budget: int) -> list[Objection]:
        too_expensive, messages = "", [Result()] * len(results)
        try:
            messages, _ = self._scope.evaluate(self._messages, given, budget)
        except OutOfBudget as error:
            too_expensive = f"failed messageExpression: {error}"
        found = []
        for index, (validation, result, message) in enumerate(zip(self._validations, results, messages, strict=True)):
            if problem := result.problem or too_expensive:
                if not self._ignores_errors:
                    found.append(Objection(problem, validation=index))
            elif result.value is not True:
                reason = validation.get("reason") or "Invalid"
                found.append(Objection(_message(validation, message), reason, index))
        return found

    def _annotate(self, given: Activation, verdict: Verdict) -> None:
        results, _ = self._scope.evaluate(self._values, given, BUDGET)
        for annotation, result in zip(self._annotations, results, strict=True):
            if result.problem:
                if not self._ignores_errors:
                    verdict.failed_annotations.append(Objection(result.problem))
            elif type(result.value) is str:
                if value := result.value.strip():
                    verdict.annotations.append((annotation["key"], value))
            elif result.value is not None:
                verdict.failed_annotations.append(Objection(_neither_text_nor_null(annotation, result.value)))


def _neither_text_nor_null(annotation: Wire, value: Any) -> str:
    why = f"resulted in unsupported return type: {type_name(value)}. Return type must be either string or null."
    return f"valueExpression '{annotation['valueExpression']}' {why}"


def _message(validation: Wire, made: Result) -> str:
    """The result of `messageExpression` if it is one short line, else `message`."""
    text = made.value.strip() if type(made.value) is str else ""
    if text and len(text.encode()) <= _LONGEST_MESSAGE and "\n" not in text:
        return text
    stated: str = (validation.get("message") or "").strip()
    return stated or f"failed expression: {validation.get('expression', '').strip()}"
