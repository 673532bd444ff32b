"""Related objects: a Site shows which version of somebody else's Secret it uses, and follows when that changes.

windvane run examples/related_secrets.py --install-crds

The Site doesn't own the Secret, it names it. The index finds, for a Secret that changed, the Sites that name it,
without looking at all of them.
"""

from windvane import Context, Operator, Resource, Spec, Status, View, Watch, index
from windvane.k8s import core


class SiteSpec(Spec):
    password_from: str
    """The Secret that has its password."""


class SiteStatus(Status):
    password_version: str = ""
    """The version of the Secret that is in use."""


class Site(Resource[SiteSpec, SiteStatus], group="examples.windvane.dev", version="v1"):
    """A site that needs a password."""


operator = Operator("sites")
sites_by_secret = index(Site, by=lambda site: site.spec.password_from)


def sites_of(secret: core.Secret, view: View) -> list[Site]:
    return view.find(sites_by_secret, secret.metadata.name)


@operator.controller(Site, watches=[Watch(core.Secret, to=sites_of)])
async def reconcile(site: Site, ctx: Context) -> None:
    secret = ctx.get(core.Secret, site.spec.password_from)
    if secret is None:
        ctx.wait(f"there is no Secret {site.spec.password_from!r} yet")
    site.status.password_version = secret.metadata.resource_version
