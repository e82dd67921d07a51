"""Principal directions of vectors, which keep cosines in fewer dimensions.

Not centred: a cosine is an inner product of the vectors as they are, and the directions of greatest second moment keep
inner products best among all of their number (Eckart and Young 1936). Pure. Invariant: the rows are orthonormal, by
falling second moment, and equal vectors give equal rows, signs included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix


def directions(vectors: Matrix, dim: int) -> NDArray[np.float32]:
    """The first `dim` directions of `vectors` (n, whole), shape (dim, whole).

    Raises InvalidArgument for a `dim` that is not from 2 to the whole, or for fewer vectors than `dim`.
    """
    count, whole = vectors.shape
    check_dim(dim, whole, count)
    exact = vectors.astype(np.float64)
    found = np.linalg.eigh(exact.T @ exact / count)[1][:, ::-1][:, :dim].T
    peaks = np.take_along_axis(found, np.abs(found).argmax(axis=1)[:, None], axis=1)
    rows: NDArray[np.float32] = (found * np.sign(peaks)).astype(np.float32)
    return rows


def check_dim(dim: int, whole: int, count: int) -> None:
    """Raise InvalidArgument unless `count` vectors of `whole` dimensions have `dim` directions, 2 or more."""
    if not 2 <= dim <= whole:
        raise InvalidArgument(f"dimension {dim} must be from 2 to {whole}, that of the model")
    if count < dim:
        raise InvalidArgument(f"{count} texts cannot tell {dim} directions apart: give more texts, or fewer dimensions")
