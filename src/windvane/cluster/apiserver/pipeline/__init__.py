"""What is done with a request, once it is allowed: from its body, by way of admission and the store, to the answer."""
