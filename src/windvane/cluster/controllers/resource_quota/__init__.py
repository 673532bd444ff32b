"""The ResourceQuota controller."""
