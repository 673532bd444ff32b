"""Admission: who may change or refuse an object between the request for it and the store."""
