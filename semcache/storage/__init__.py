"""Storage: stores, vector indexes, the registry of entries, hot entries, the event log and accounting."""
