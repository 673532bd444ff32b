"""The kinds of autoscaling."""
