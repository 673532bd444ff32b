"""The kinds of apps."""

GROUP_PRIORITY = 17800
