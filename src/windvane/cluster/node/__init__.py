"""The node agent: what runs pods on this machine, as a kubelet does on a node of a cluster."""
