"""Question frames of leave, need and advice: "is it possible to" as "can I", "must I" as "do I need to".

Invariant: what is asked for stays apart: what one can do, may do, has to do and had better do.
"""

from __future__ import annotations

import re

# Each pattern is another writing of the frame beside it.
FRAMES_OF_LEAVE: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(
        r"is it (?:at all )?possible (?:for (?:me|one|us) |for (?:someone|people) (?!.*\b(?:my|me|our|us|i"
        r"|their)\b))?to ", re.I), "can i "),
    (re.compile(
        r"(?:can one(?! (?:of|person|parent|partner|man|woman|dog|cat|eye|ear|kidney|lung|leg|side|party|day|part)\b)"
        r"|am i able to|could i(?! (?:have|be|get)\b)|could one(?! (?:of|person|day|man|woman)\b)|would i be able to) ",
        re.I), "can i "),
    (re.compile(r"is it (?:ok|okay|alright|all right|fine) (?:(?:for me )?to|if i) ", re.I), "is it ok to "),
    (re.compile(
        r"(?:is there (?:a|any|some)|are there any|any) ways? (?:(?:for me )?to|i can|one can) "
        r"(?=[a-z])", re.I), "is there a way to "),
    (re.compile(
        r"(?:do i have to|must i|is it necessary (?:for me )?to|is it required to|am i required to) ", re.I),
            "do i need to "),
    (re.compile(
        r"(?:is it (?:a good idea|advisable|recommended|wise)|would it be (?:a good idea|advisable|wise)) to ", re.I),
            "should i "),
)  # fmt: skip
