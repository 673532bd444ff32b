"""An operator that keeps etcd clusters."""
