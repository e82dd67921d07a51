"""Training the verifier: a cross-encoder that reads two prompts and says whether one answer fits both.

`network` is the model, `fitting` trains it, `calibrating` makes probabilities of its logits, `graph` writes the folder
that `semcache.models.cross_encoder` runs, `drift` decides whether a newly trained one may replace the installed one. Everything
but `network` and `fitting` works without torch.
"""
