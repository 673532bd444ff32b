"""The built-in kinds as typed models, one module per API group: `from windvane.k8s import apps, core`."""
