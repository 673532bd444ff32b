"""The garbage collector: objects go with their owners."""
