"""What is done with a request once it is allowed: from its body, through admission and the store, to the answer."""
