"""Near hits: cached answers that are no answer to this request, shown to a small model as examples of how to answer it.

`example` is what is kept, `example_pool` keeps as much of it as is worth its bytes, `helpful` learns which examples
help and `floor` how much they must, `pick` selects among them, `place` puts them into a request, `model_bandit` chooses
the model, `check` looks at the answers of a cascade, `quality_certificate` certifies them, `example_replay` refines the
best, `near` is the path made of these (IC-Cache, arXiv 2501.12689).
Invariant: a cached answer is never served from here, nothing is shown across partitions, and a small model's answer is
served only while comparisons with the large one certify that it does.
"""

from semcache.agents.nearhits.example import NearExample
from semcache.agents.nearhits.example_pool import ExamplePool
from semcache.agents.nearhits.model_bandit import Arm, ModelBandit
from semcache.agents.nearhits.near import NearChoice, NearHits, NearSettings
from semcache.agents.nearhits.place import placed
from semcache.agents.nearhits.quality_certificate import PathState, QualityWatch

__all__ = [
    "Arm",
    "ExamplePool",
    "ModelBandit",
    "NearChoice",
    "NearExample",
    "NearHits",
    "NearSettings",
    "PathState",
    "QualityWatch",
    "placed",
]
