"""The soak: a proxy of two workers on PostgreSQL for an hour, with faults at random, and every promise checked."""
