"""What goes over the wire: bodies and answers as JSON, YAML, protobuf, tables and metadata."""
