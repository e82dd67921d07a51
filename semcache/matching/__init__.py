"""The match between a request and its neighbours: features, guards, strategies, the decision, verification."""
