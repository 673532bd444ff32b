"""Pod security admission: checks pods against the standards that the labels of their namespace name."""
