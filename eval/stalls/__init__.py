"""Stalls: what a tenant's or a stranger's requests cost an honest tenant that uses the proxy at the same time."""
