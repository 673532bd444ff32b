"""The kinds of batch."""

GROUP_PRIORITY = 17400
