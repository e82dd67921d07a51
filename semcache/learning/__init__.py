"""Learning from traffic: judges, the label log, labelling, the learner and feedback."""
