"""Admission webhooks: programs elsewhere that are asked about writes before they are stored."""
