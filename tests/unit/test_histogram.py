"""Histogram: how many took how long, as Prometheus wants it."""

from windvane.histogram import BUCKETS, Histogram


def test_each_bound_counts_all_that_took_at_most_that_long() -> None:
    histogram = Histogram()
    for seconds in (0.0004, 0.3, 0.3, 4.0):
        histogram.add(seconds)
    counts = dict(histogram.cumulative())
    assert (counts["0.001"], counts["0.25"], counts["0.5"], counts["5.0"], counts["+Inf"]) == (1, 1, 3, 4, 4)
    assert abs(histogram.total - 4.6004) < 1e-9


def test_a_bound_belongs_to_what_is_below_it() -> None:
    histogram = Histogram()
    histogram.add(1.0)
    assert dict(histogram.cumulative())["1.0"] == 1


def test_what_took_longer_than_any_bound_is_counted_too() -> None:
    histogram = Histogram()
    histogram.add(BUCKETS[-1] + 1)
    assert histogram.cumulative()[-2:] == [(str(BUCKETS[-1]), 0.0), ("+Inf", 1.0)]
