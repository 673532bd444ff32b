"""What the operators of these tests declare."""

from integration.webhook.world import OldSite, OldSiteSpec, Site, SiteSpec, World
from windvane import Denied


def guard(world: World) -> None:
    """Nobody lives on the moon."""

    @world.operator.validate(world.site)
    def check(site: Site) -> None:
        if site.spec.region == "moon":
            raise Denied("nobody lives there")


def fill_in(world: World) -> None:
    """A site is in Europe unless it says where."""

    @world.operator.default(world.site)
    def fill_in(site: Site) -> None:
        site.spec.region = site.spec.region or "eu"


def convert(world: World) -> None:
    """A site had one host once."""
    new, old = world.site, world.old_site

    @world.operator.convert(old, new)
    def up(site: OldSite) -> Site:
        return new(spec=SiteSpec(region=site.spec.region, hosts=[site.spec.host] if site.spec.host else []))

    @world.operator.convert(new, old)
    def down(site: Site) -> OldSite:
        return old(spec=OldSiteSpec(region=site.spec.region, host=site.spec.hosts[0] if site.spec.hosts else ""))


OPERATOR = '''
from windvane import Denied, Operator, Resource, Spec, Status


class SiteSpec(Spec):
    region: str = ""


class Site(Resource[SiteSpec, Status], group="GROUP", version="v1"):
    """A site."""


operator = Operator("NAME")


@operator.default(Site)
def fill_in(site: Site) -> None:
    site.spec.region = site.spec.region or "eu"


@operator.validate(Site)
def check(site: Site) -> None:
    if site.spec.region == "moon":
        raise Denied("nobody lives there")
'''
"""The module of an operator, for `windvane run`."""
