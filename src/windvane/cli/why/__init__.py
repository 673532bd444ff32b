"""`windvane why`: which change woke which pass, and what that led to, told of one object.

reference   which object is meant
histories   the journals of operators            ─┐
live        what the cluster has now             ─┴▶ facts
causes      journals as a graph of changes and passes
standing, readiness, deletion, refusal, contention, workers     facts ─▶ reasons
chain       the part of the graph that led here
explanation reasons, chain and Events, as text or JSON
"""

from windvane.cli.why.command import add_to as add_to
