"""The kinds of the core group."""

GROUP_PRIORITY = 18000
