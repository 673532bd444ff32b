"""`python -m etcd_demo`, which is `make run`."""

import argparse
import sys

from etcd_demo.demo import main

ABOUT = """\
Start an embedded Kubernetes and the etcd operator, make an etcd cluster of three members, and show what happens, until
Ctrl-C. The data stays, and the next run goes on with it."""

argparse.ArgumentParser(prog="python -m etcd_demo", description=ABOUT).parse_args()
sys.exit(main())
