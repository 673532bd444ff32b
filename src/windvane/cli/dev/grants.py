"""The operator's rights: those that the manifests in deploy/ give its ServiceAccount, and which are missing."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from windvane import ambient
from windvane.cli.dev.applier import Applier, ApplyRefused
from windvane.cli.dev.credentials import write_kubeconfig, write_token
from windvane.cli.dev.deploy_manifests import Deployed, read_deployed
from windvane.cli.doctor.cluster_checks import denied, role_for, rule_for
from windvane.cli.manifests import UnreadableManifest, manifest_files, read_manifests, shown
from windvane.client.client import Client
from windvane.client.errors import ClientError
from windvane.runtime.rbac import Permission

FIRST_RENEWAL = 60.0


class Grants:
    """Reads, applies and looks at them. The operator gets in with `kubeconfig`, which names a file with a token."""

    def __init__(self, deploy: Path | None, files: Path, note: Callable[..., None]) -> None:
        self._deploy = deploy
        self._note = note
        self._token = files / "operator.token"
        self.kubeconfig = files / "operator.kubeconfig"
        self.deployed = Deployed()
        self.missing: list[str] = []
        """What can't be done for want of a right, in a line each."""

    def read(self) -> None:
        """See what the manifests say; if they can't be read, what they said before counts."""
        if self._deploy is None:
            return
        try:
            found = [each for file in manifest_files([self._deploy]) for each in read_manifests(file)]
        except UnreadableManifest as error:
            self._note(str(error), problem=True)
            return
        self.deployed = read_deployed(found)

    async def apply(self, client: Client, *, admin: Path, port: int) -> None:
        """Have the account, with the rights that the manifests give it, and a kubeconfig that leads to a port."""
        applier = Applier(client)
        for each in self.deployed.access:
            try:
                await applier.apply(each)
            except ApplyRefused as error:
                self._note(str(error), problem=True)
        account = self.deployed.account
        if account is not None:
            try:
                await write_token(client, account, self._token)
            except ClientError as error:
                words = f"there is no ServiceAccount {account}, which the operator is to run as: {error}"
                self._note(words, problem=True)
                account = None
        write_kubeconfig(self.kubeconfig, admin=admin, port=port, account=account, token=self._token)
        if account is not None:
            self._note(f"the operator works as ServiceAccount {account}, with the rights in {self._where}")
        else:
            self._note(f"the operator may do everything here: {self._where} has no ServiceAccount for it")

    async def check(self, rights: Sequence[Permission]) -> None:
        """Say which of these are missing."""
        if self.deployed.account is None:
            return
        missing: list[str] = []
        try:
            async with Client.connect(kubeconfig=self.kubeconfig) as client:
                for right in rights:
                    if verbs := await denied(client, right):
                        words = f"no right to {', '.join(verbs)} {right.resource} ({right.why})"
                        missing.append(f"{words}: {role_for(right)} in {self._where} needs {rule_for(right)}")
        except ClientError as error:
            self._note(f"the operator's rights can't be looked at: {error}", problem=True)
            return
        for each in missing:
            if each not in self.missing:
                self._note(each, problem=True)
        if self.missing and not missing:
            self._note("the operator has all the rights that it declares")
        self.missing = missing

    async def keep_token(self, client: Client) -> None:
        """Renew the token in time, until cancelled."""
        while True:
            pause = FIRST_RENEWAL
            if self.deployed.account is not None:
                with suppress(ClientError):  # which the operator says, if it lasts
                    pause = await write_token(client, self.deployed.account, self._token)
            await ambient.sleep(pause)

    @property
    def _where(self) -> str:
        return shown(self._deploy) if self._deploy else "the project"
