"""CEL, the language of validation rules: read, type-checked, priced and run exactly as Kubernetes' API server does.

    source text ──parser──▶ syntax ──checker──▶ typed syntax ──┬─ estimate ──▶ what it may cost at most
                                                                └─ compiler ─▶ a function of self and oldSelf

Why not a library from PyPI: none of them checks types against a schema, estimates costs, knows optionals or has
Kubernetes' own functions, and the words of their errors are their own. Rules are part of a kind's API: one that is
refused, or that refuses, must do so in the same words here and on every cluster.
"""
