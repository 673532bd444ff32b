"""The functions that rules can call: the language's own, those of its extensions that Kubernetes uses, Kubernetes'."""

from windvane.api.cel.functions import Functions, merged
from windvane.api.cel.library import (
    authorization,
    conversions,
    lists,
    named_formats,
    network,
    operators,
    optionals,
    quantities,
    regex,
    semver,
    sets,
    strings,
    times,
    urls,
)

FUNCTIONS: Functions = merged(
    operators.FUNCTIONS,
    conversions.FUNCTIONS,
    times.FUNCTIONS,
    urls.FUNCTIONS,
    authorization.FUNCTIONS,
    regex.FUNCTIONS,
    lists.FUNCTIONS,
    optionals.FUNCTIONS,
    quantities.FUNCTIONS,
    strings.FUNCTIONS,
    sets.FUNCTIONS,
    network.FUNCTIONS,
    named_formats.FUNCTIONS,
    semver.FUNCTIONS,
)
"""All of them, as Kubernetes 1.36 has them for rules in CRDs."""
