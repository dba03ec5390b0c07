"""What people do on the page: read, write, upload, press. The acceptance tests use the same endpoints."""
