"""From an author's class to a CustomResourceDefinition: its checks, its schema, its rules, its documentation."""
