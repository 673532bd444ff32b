"""EndpointSlices and Endpoints: which pods are behind each Service."""
