"""The result that a plan expects of a call: what the results of the runs that it was learned from had in common.

A plan goes on after a call only where the result is like those: of their type, with most of their fields, and with the
signs of failure that all of them had and no others. A state ("status": "shipped", "locked": true) must have been seen
before: what is to be done may follow from it. A field that held a value of the task each time ("owner": "Ann Lee", of
the order of Ann Lee) must hold one again. Pure. Invariant: of results nothing is kept but their type, signs
(`result_signs`), and keyed digests of the names of their fields and of their states.
"""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from hashlib import blake2b

from semcache.agents.result_signs import NOTHING_LEFT, Json, reservations, states
from semcache.agents.slots import STOP

_SIGN = re.compile(r"[A-Za-z_\u26a0\u274c\u2717\u2718\U0001f6ab'](?:[\w .:'-]{0,79})")  # a name, or a word of the signs
_FIELDS = 64  # of one result
_SMALL = 10  # a smaller number stands in many a task by chance
_CODES = frozenset(("code", "state"))  # "state" of an address, too
_CODE = re.compile(r"[A-Z]{2,4}")
_ANY = "any"
_SCALARS = frozenset(("string", "number", "boolean"))  # a text that is "7" one time is "seven" another


@dataclass(frozen=True, slots=True)
class ExpectedResult:
    """The result that is expected.

    `yields` is a type: object, array, string, number, boolean, null or any. `passes` are the signs that some of the
    runs' results had, `always` those that all had. `fields` are keyed digests (hex) of the names that all had, `states`
    those of the states that any had, and `echoes` those of the fields whose value the task had said in all.
    """

    yields: str = _ANY
    passes: tuple[str, ...] = ()
    always: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    echoes: tuple[str, ...] = ()

    def allows(self, result: Json, task: str, salt: bytes, taken: Container[str] = ()) -> bool:
        """Return True for a result that is like those before. `salt` keys the names of fields as it did in them.

        `taken` are the fields whose values later calls have: what is code "BER" in one run is "VIE" in the next.
        """
        signs, yields = _signs(result), type_of(result)
        if self.yields not in (_ANY, yields) and not {self.yields, yields} <= _SCALARS:
            return False
        if not {*self.always} <= signs <= {*self.passes}:
            return False
        if any(not _says(task, value) for name, value in _leaves(result) if _digest(name, salt) in self.echoes):
            return False
        missing = {*self.fields} - {*_fields(result, salt)}
        return 2 * len(missing) <= len(self.fields) and {*_states(result, salt, taken)} <= {*self.states}

    def also(self, other: ExpectedResult) -> ExpectedResult:
        """The result that is expected once another run had this one."""
        return ExpectedResult(
            self.yields if self.yields == other.yields else _ANY,
            tuple(sorted({*self.passes, *other.passes})),
            tuple(sorted({*self.always} & {*other.always})),
            tuple(sorted({*self.fields} & {*other.fields})),
            tuple(sorted({*self.states, *other.states})),
            tuple(sorted({*self.echoes} & {*other.echoes})),
        )


def expected(result: Json, task: str, salt: bytes) -> ExpectedResult:
    """The result that is expected after one run of this task with this one."""
    signs = tuple(sorted(_signs(result)))
    always = tuple([one for one in signs if not one.endswith(NOTHING_LEFT)])
    echoes = sorted({_digest(name, salt) for name, value in _leaves(result) if _says(task, value)})
    return ExpectedResult(
        type_of(result), signs, always, tuple(_fields(result, salt)), tuple(_states(result, salt)), tuple(echoes)
    )


def type_of(value: Json) -> str:
    """The JSON type of a result."""
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    return "null" if value is None else "number"


def _signs(result: Json) -> frozenset[str]:
    return frozenset([one for one in reservations(result) if _SIGN.fullmatch(one)])


def _fields(result: Json, salt: bytes) -> list[str]:
    names = sorted(result)[:_FIELDS] if isinstance(result, dict) else ()
    return sorted([_digest(str(name), salt) for name in names])


def _leaves(result: Json) -> list[tuple[str, str]]:
    """The values of an object's fields, and of those of objects inside, with names such as "order.owner"."""
    if not isinstance(result, dict):
        return []
    found: list[tuple[str, str]] = []
    left = [(str(name), value) for name, value in result.items()]
    while left and len(found) < _FIELDS:
        name, value = left.pop()
        if isinstance(value, dict):
            left += [(f"{name}.{key}", inner) for key, inner in value.items()]
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            found.append((name, str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)))
    return found


def _says(task: str, value: str) -> bool:
    """Return True if a task says this value, as words of its own."""
    plain = value.strip().casefold()
    if len(plain) < len("10") or plain in STOP or (plain.isdecimal() and int(plain) < _SMALL):
        return False
    return re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", task.casefold()) is not None


def _states(result: Json, salt: bytes, taken: Container[str] = ()) -> list[str]:
    found = [(name, value) for name, value in states(result) if name not in taken or not _is_code(name, result)]
    return sorted([_digest(f"{name}={value}", salt) for name, value in found])


def _is_code(name: str, result: Json) -> bool:
    """Return True for a field that holds the code of a place or of a currency, by its own name."""
    value = result
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return name.rpartition(".")[2] in _CODES and isinstance(value, str) and _CODE.fullmatch(value) is not None


def _digest(text: str, salt: bytes) -> str:
    return blake2b(text.encode(), digest_size=4, key=salt[:64]).hexdigest()
