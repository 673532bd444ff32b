"""The kinds of policy."""

GROUP_PRIORITY = 17100
