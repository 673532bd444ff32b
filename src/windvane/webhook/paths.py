"""Where the webhook server is asked what: the paths that are in webhook configurations and CRDs.

    /default/demo.windvane.dev/v1/websites
    /validate/demo.windvane.dev/v1/websites
    /validate/core/v1/pods                      kinds of the core group, whose name is empty
    /convert                                    all kinds
    /probe                                      nothing: that there is an answer is all that is asked

What is at a path never changes its meaning: a configuration may be older than the server that it leads to.
"""

from windvane.api.kind import Kind

CONVERT_PATH = "/convert"
PROBE_PATH = "/probe"


def default_path(kind: Kind) -> str:
    """Where the function of `@operator.default` is asked."""
    return f"/default{_address(kind)}"


def validate_path(kind: Kind) -> str:
    """Where the function of `@operator.validate` is asked."""
    return f"/validate{_address(kind)}"


def webhook_name(verb: str, kind: Kind) -> str:
    """What a webhook is called in configurations, in metrics, and by API servers: `validate.pods.core`."""
    return f"{verb}.{kind.plural}.{kind.group or 'core'}"


def _address(kind: Kind) -> str:
    return f"/{kind.group or 'core'}/{kind.version}/{kind.plural}"
