"""Federated training: clients learn from pairs that only they have, and a server sees nothing but masked sums.

A federation learns a linear map of the vectors of an embedder that everybody has
(`semcache.train.distill.linear_map`), and the threshold that goes with it: federated averaging (McMahan et al. 2017,
algorithm 1) of maps and, as in MeanCache (arXiv 2403.02694, section 3.1), of thresholds, weighted by samples. A server
sees sums alone: every update is masked by numbers that cancel in the sum (Bonawitz et al. 2017, section 4.1). With
`clip` and `noise`, what the sum says of one client is bounded as well (`privacy`).

The protocol, version 1, over HTTP. Every request carries `Authorization: Bearer TOKEN`; the token names the client.

    GET  /v1/federation                          the plan, and where the federation stands
    POST /v1/federation/join                     {"round": R, "attempt": A, "key": X25519 public key, hexadecimal}
    GET  /v1/federation/weights/R                parameters and threshold before round R, float32, little-endian
    PUT  /v1/federation/updates/R/A              the masked update: uint64, little-endian

A round is an attempt or several. `joining`: clients send a fresh key each, until all have or `patience` seconds are
over. `summing`: the roster of keys is closed; each client on it agrees on a seed with every other one (X25519, then
HKDF-SHA256 over round, attempt and both names), adds the stream of that seed (ChaCha20) if its own name comes first and
subtracts it if not, all modulo 2**64, and sends the result. When every update is there, the masks have cancelled and
the server has the sum. Where one is missing after `patience` seconds, nothing can be read; the round is repeated, with
fresh keys, without who was missing; such a client may join the next round, which waits for it if it has been heard of.
An update for an attempt that is over gets 409 and is never read. There are rounds 1 to `rounds`, and one more that only
measures. Then the phase is `over`; and it is, with `failed` saying why, when a sum makes no sense: secrets differ.

An update is a vector of 64-bit integers, numbers times 2**24: weighted change of each parameter, weighted change of the
threshold, weight of the threshold, weight, and how many of the client's own pairs that it does not learn from, of the
same answer and of different ones, score in each 400th of the range under the model that was received. From the last
round's sum of these counts comes the threshold that is best for all; with `clip` nothing is counted, and the threshold
is the mean of the clients' own.

What it does not protect from: a server that breaks the protocol. It could invent clients, exchange keys, or read a
late update that it said it would not. A secret that the clients share and the server does not know (`secret`) goes into
every seed and closes the first two. Updates that lie are not detected.
"""
