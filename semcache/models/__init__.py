"""The models: embedders, the cross-encoder, the language model that is asked, and the weights that ship."""
