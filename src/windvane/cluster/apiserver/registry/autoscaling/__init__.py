"""The kinds of autoscaling."""

GROUP_PRIORITY = 17500
