"""pytester runs pytest within a test, and forgets the modules that were first loaded in there: loaded anew, their
classes would be others than those that are in use. So everything is loaded before."""

import pkgutil
from importlib import import_module

import windvane
import windvane.k8s
import windvane.testing

for door in (windvane, windvane.testing):
    for name in door.__all__:
        getattr(door, name)
for package in (windvane.k8s, windvane.testing):
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        import_module(module.name)
