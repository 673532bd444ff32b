"""An operator that keeps etcd clusters: `windvane run etcd_operator:operator`."""

from etcd_operator.operator import operator

__all__ = ["operator"]
