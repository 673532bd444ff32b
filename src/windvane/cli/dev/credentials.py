"""What the operator reaches the API server with: a kubeconfig of its own, by the relay, as its ServiceAccount."""

import json
from pathlib import Path

import yaml

from windvane import ambient
from windvane.cli.dev.deploy_manifests import Account
from windvane.cli.dev.relay import HOST
from windvane.client.client import Client
from windvane.cluster.pki import write_private

NAME = "windvane-dev"
RENEWED_AT = 0.5
"""After which part of its time a token is renewed."""
AT_LEAST = 60.0


def write_kubeconfig(file: Path, *, admin: Path, port: int, account: Account | None, token: Path) -> None:
    """Lead to the relay's port: as the account, whose token is in a file, or else as the administrator."""
    config = yaml.safe_load(admin.read_text(encoding="utf-8"))
    cluster = config["clusters"][0]["cluster"] | {"server": f"https://{HOST}:{port}"}
    user = {"tokenFile": str(token)} if account else config["users"][0]["user"]
    context = {"cluster": NAME, "user": NAME, "namespace": account.namespace if account else "default"}
    written = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": NAME, "cluster": cluster}],
        "users": [{"name": NAME, "user": user}],
        "contexts": [{"name": NAME, "context": context}],
        "current-context": NAME,
    }
    write_private(file, json.dumps(written, indent=1).encode())  # JSON is YAML


async def write_token(client: Client, account: Account, file: Path) -> float:
    """Have a new token in the file; in how many seconds it should be renewed."""
    status = await client.token(account.name, namespace=account.namespace)
    write_private(file, (status.token or "").encode())
    lasts = (status.expiration_timestamp - ambient.now()).total_seconds() if status.expiration_timestamp else 0.0
    return max(lasts * RENEWED_AT, AT_LEAST)
