"""Admission: plugins that may change or refuse an object before it is stored."""
