"""The names of ServiceAccounts as users."""

ACCOUNT_PREFIX = "system:serviceaccount:"


def account_name(namespace: str, name: str) -> str:
    """What a ServiceAccount is called as a user."""
    return f"{ACCOUNT_PREFIX}{namespace}:{name}"
