"""The namespace controller: a deleted namespace is emptied."""
