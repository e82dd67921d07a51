"""Training the verifier: a cross-encoder that reads two prompts and says whether one answer fits both.

`cross_encoder_network` is the model, `training_loop` trains it, `logit_calibration` turns its logits into
probabilities, `verifier_folder` writes the folder that `semcache.models.cross_encoder` runs, `replacement` decides
whether a newly trained one may replace the installed one. Everything but the first two works without torch.
"""
