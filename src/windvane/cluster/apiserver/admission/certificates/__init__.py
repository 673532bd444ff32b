"""The admission plugins about CertificateSigningRequests."""
