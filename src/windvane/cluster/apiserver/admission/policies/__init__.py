"""Admission policies: rules in CEL that refuse or change what is written, without a webhook."""
