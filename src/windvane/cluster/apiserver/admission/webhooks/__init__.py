"""Admission webhooks: the API server posts them AdmissionReviews before it stores objects."""
