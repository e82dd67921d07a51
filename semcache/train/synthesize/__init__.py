"""Training pairs from unlabelled prompts of one domain.

From each prompt: paraphrases, and prompts that look alike and ask for something else; made by rules, or by a language
model (`language_model_pairs`). Every pair goes through the guards and carries how it was made.
"""

from __future__ import annotations

from semcache.train.synthesize.generate import KINDS, Counts, synthesize

__all__ = ["KINDS", "Counts", "synthesize"]
