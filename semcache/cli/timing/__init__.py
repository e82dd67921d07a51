"""The timing audit: what a tenant learns from the time of its replies about what others asked."""
