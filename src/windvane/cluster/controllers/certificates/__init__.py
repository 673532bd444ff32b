"""CertificateSigningRequests: approved, signed, and removed when they are over."""
