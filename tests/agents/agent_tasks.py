"""Kinds of agent tasks: the task and its calls, ways to say it again, and tasks that are much like it and are others.

Invariant: `again` means what `task` means, with other values; no task of `near` may be served the plan of `task`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Kind:
    """One kind of task. `values` are those of the runs to learn from; `calls` are (tool, arguments, it only reads)."""

    task: str
    values: list[dict[str, Any]]
    calls: list[tuple[str, dict[str, Any], bool]]
    again: list[tuple[str, dict[str, Any]]]
    near: list[str]


KINDS = [
    Kind(
        "Cancel order {o} of customer {c}",
        [{"o": "A-1001", "c": "C-77"}, {"o": "A-1002", "c": "C-78"}],
        [("get_customer", {"id": "{c}"}, True), ("cancel_order", {"order": "{o}"}, False)],
        [
            ("Please cancel order {o} of customer {c}", {"o": "B-9", "c": "C-5"}),
            ("Could you cancel order {o} of customer {c}?", {"o": "B-10", "c": "C-6"}),
            ("Hi! I need you to cancel the order {o} of customer {c}. Thanks!", {"o": "B-11", "c": "C-7"}),
        ],
        [
            "Don't cancel order A-1003 of customer C-79",
            "Uncancel order A-1003 of customer C-79",
            "Was order A-1003 of customer C-79 cancelled?",
            "Cancel order A-1003 of customer C-79 if it has not shipped",
            "Cancel order A-1003 and order A-1004 of customer C-79",
            "Cancel subscription A-1003 of customer C-79",
            "I cancelled order A-1003 of customer C-79",
            "Cancel order A-1003 of customer C-79 and refund it",
        ],
    ),
    Kind(
        "Refund ${a} to {n} for invoice {i}",
        [{"a": 40, "n": "Ann Lee", "i": "INV-12"}, {"a": 55, "n": "Bob Ray", "i": "INV-13"}],
        [("find_invoice", {"invoice": "{i}"}, True), ("refund", {"to": "{n}", "amount": "{a:int}"}, False)],
        [
            ("Kindly refund ${a} to {n} for invoice {i}", {"a": 70, "n": "Cid Roe", "i": "INV-20"}),
            ("refund ${a} to {n} for the invoice {i}", {"a": 71, "n": "Dee Poe", "i": "INV-21"}),
            ("I'd like you to refund ${a} to {n} for invoice {i}, please.", {"a": 72, "n": "Eve Moe", "i": "INV-22"}),
        ],
        [
            "Refund €80 to Ann Lee for invoice INV-30",
            "Refund up to $80 to Ann Lee for invoice INV-30",
            "Refund $80k to Ann Lee for invoice INV-30",
            "Charge $80 to Ann Lee for invoice INV-30",
            "Refund $80 to Ann Lee and Bob Ray for invoice INV-30",
            "Refund $80 to Ann Lee for invoice INV-30 tomorrow",
            "Refund $80 to Ann Lee's brother for invoice INV-30",
            "Why did we refund $80 to Ann Lee for invoice INV-30?",
            "Refund $80 to nobody for invoice INV-30",
            "Refund 80% to Ann Lee for invoice INV-30",
        ],
    ),
    Kind(
        "Delete Slack notifications of user {u}",
        [{"u": "jdoe7"}],
        [("find_user", {"name": "{u}"}, True), ("delete_notifications", {"user": "{u}"}, False)],
        [
            ("Delete the Slack notifications of user {u}", {"u": "mroe3"}),
            ("Please delete Slack notifications of user {u}", {"u": "mroe4"}),
            ("can you delete Slack notifications of user {u}", {"u": "mroe5"}),
        ],
        [
            "Enable Slack notifications of user mroe8",
            "Delete Teams notifications of user mroe8",
            "Restore Slack notifications of user mroe8",
            "Delete Slack messages of user mroe8",
            "Delete Slack notifications of all users",
        ],
    ),
    Kind(
        'Send an email to {e} saying "{t}"',
        [{"e": "ann@x.com", "t": "The meeting moved"}, {"e": "bob@y.org", "t": "All done"}],
        [("send_email", {"to": "{e}", "body": "{t}"}, False)],
        [
            ('Please send an email to {e} saying "{t}"', {"e": "cy@z.net", "t": "Ship it"}),
            ('Send the email to {e} saying "{t}"', {"e": "di@z.net", "t": "No, not now"}),
            ('Could you please send an email to {e} saying "{t}"? Thank you!', {"e": "ed@z.net", "t": "please call"}),
        ],
        [
            'Draft an email to cy@z.net saying "Ship it"',
            'Send an email to cy@z.net and di@z.net saying "Ship it"',
            'Send an email to cy@z.net saying "Ship it" unless it is Sunday',
            'Never send an email to cy@z.net saying "Ship it"',
            'Did you send an email to cy@z.net saying "Ship it"?',
            'Forward an email to cy@z.net saying "Ship it"',
        ],
    ),
    Kind(
        "Book a flight from {a} to {b} on {d}",
        [{"a": "Paris", "b": "Rome", "d": "2026-05-03"}, {"a": "Oslo", "b": "Lima", "d": "2026-05-04"}],
        [
            ("search_flights", {"from": "{a}", "to": "{b}", "date": "{d}"}, True),
            ("book", {"from": "{a}", "to": "{b}", "date": "{d}"}, False),
        ],
        [
            ("Please book a flight from {a} to {b} on {d}", {"a": "Berlin", "b": "Madrid", "d": "2026-06-01"}),
            ("I want to book a flight from {a} to {b} on {d}", {"a": "Tokyo", "b": "Seoul", "d": "2026-06-02"}),
            ("book a flight from {a} to {b} on {d} for me", {"a": "Delhi", "b": "Dubai", "d": "2026-06-03"}),
        ],
        [
            "Book a flight from Paris to Rome before 2026-06-01",
            "Book a train from Paris to Rome on 2026-06-01",
            "Book a flight from Paris to Rome and back on 2026-06-01",
            "Cancel a flight from Paris to Rome on 2026-06-01",
            "How much is a flight from Paris to Rome on 2026-06-01",
            "Book a hotel in Rome on 2026-06-01",
            "Book a flight from Paris to Rome on 2026-06-31",
            "Book a flight from Paris to Rome on 2026-06-01 or 2026-06-02",
        ],
    ),
    Kind(
        "Transfer {n} euros from account {a} to account {b}",
        [{"n": 100, "a": "DE1122", "b": "FR3344"}, {"n": 250, "a": "DE1123", "b": "FR3345"}],
        [("transfer", {"amount": "{n:int}", "source": "{a}", "target": "{b}"}, False)],
        [
            ("Please transfer {n} euros from account {a} to account {b}", {"n": 90, "a": "DE5511", "b": "FR5522"}),
            ("I want to transfer {n} euros from account {a} to account {b}", {"n": 91, "a": "DE5512", "b": "FR5523"}),
            (
                "Transfer {n} euros from the account {a} to the account {b}, thanks",
                {"n": 92, "a": "DE5513", "b": "FR5524"},
            ),
        ],
        [
            "Transfer 90 dollars from account DE5511 to account FR5522",
            "Transfer 90 euros to account DE5511 from account FR5522",
            "Transfer half of 90 euros from account DE5511 to account FR5522",
            "Transfer at most 90 euros from account DE5511 to account FR5522",
            "Can I transfer 90 euros from account DE5511 to account FR5522",
            "Simulate transfer of 90 euros from account DE5511 to account FR5522",
            "Transfer -90 euros from account DE5511 to account FR5522",
            "Transfer 90 euros from account DE5511 to account FR5522 every month",
        ],
    ),
    Kind(
        "Assign ticket {k} to {p} and set its priority to {q}",
        [{"k": "OPS-1", "p": "Nora", "q": "high"}, {"k": "OPS-2", "p": "Karl", "q": "low"}],
        [
            ("assign", {"ticket": "{k}", "to": "{p}"}, False),
            ("set_priority", {"ticket": "{k}", "priority": "{q}"}, False),
        ],
        [
            ("Please assign ticket {k} to {p} and set its priority to {q}", {"k": "OPS-8", "p": "Omar", "q": "medium"}),
            ("Assign the ticket {k} to {p} and set its priority to {q}", {"k": "OPS-9", "p": "Pia", "q": "high"}),
            (
                "Hello, could you assign ticket {k} to {p} and set its priority to {q}?",
                {"k": "OPS-10", "p": "Quinn", "q": "low"},
            ),
        ],
        [
            "Unassign ticket OPS-8 from Omar and set its priority to medium",
            "Assign ticket OPS-8 to Omar",
            "Assign ticket OPS-8 to Omar and do not set its priority to medium",
            "Assign ticket OPS-8 to Omar and set its priority to medium then close it",
            "Assign ticket OPS-8 to me and set its priority to medium",
            "Who did you assign ticket OPS-8 to and what is its priority",
        ],
    ),
    Kind(
        "Restart the {s} service on host {h}",
        [{"s": "billing", "h": "web-01"}, {"s": "search", "h": "web-02"}],
        [("status", {"host": "{h}", "service": "{s}"}, True), ("restart", {"host": "{h}", "service": "{s}"}, False)],
        [
            ("Please restart the {s} service on host {h}", {"s": "mail", "h": "web-07"}),
            ("restart the {s} service on host {h}, please", {"s": "login", "h": "web-08"}),
            ("Go ahead and restart the {s} service on host {h}", {"s": "cache", "h": "web-09"}),
        ],
        [
            "Stop the mail service on host web-07",
            "Restart the mail service on host web-07 after midnight",
            "Restart the mail service on every host",
            "Restart the mail server on host web-07",
            "Has the mail service on host web-07 been restarted",
            "Restart all services on host web-07",
            "Restart the mail service on host web-07 only if it is down",
            "Explain how to restart the mail service on host web-07",
        ],
    ),
    Kind(
        "Rename the file {a} to {b}",
        [{"a": "draft.txt", "b": "final.txt"}, {"a": "old.md", "b": "new.md"}],
        [("rename", {"source": "{a}", "target": "{b}"}, False)],
        [
            ("Please rename the file {a} to {b}", {"a": "x1.csv", "b": "x2.csv"}),
            ("rename file {a} to {b}", {"a": "y1.csv", "b": "y2.csv"}),
            ("I need you to rename the file {a} to {b}", {"a": "z1.csv", "b": "z2.csv"}),
        ],
        [
            "Copy the file x1.csv to x2.csv",
            "Rename the folder x1.csv to x2.csv",
            "Rename the file x1.csv back to x2.csv",
            "Rename the file x1.csv to x2.csv and delete x3.csv",
            "Do not rename the file x1.csv to x2.csv",
            "Rename the file x1.csv to something shorter",
        ],
    ),
    Kind(
        "Invite {n} to the project {p} as {r}",
        [{"n": "Tom Fox", "p": "atlas-7", "r": "viewer"}, {"n": "Una Fay", "p": "atlas-8", "r": "editor"}],
        [
            ("find_project", {"name": "{p}"}, True),
            ("invite", {"person": "{n}", "project": "{p}", "role": "{r}"}, False),
        ],
        [
            ("Please invite {n} to the project {p} as {r}", {"n": "Vic Gay", "p": "zeus-3", "r": "viewer"}),
            ("Could you invite {n} to the project {p} as {r}?", {"n": "Wim Hoe", "p": "zeus-4", "r": "owner"}),
            ("I'd like to invite {n} to project {p} as {r}", {"n": "Xia Li", "p": "zeus-5", "r": "editor"}),
        ],
        [
            "Remove Vic Gay from the project zeus-3 as viewer",
            "Invite everyone to the project zeus-3 as viewer",
            "Invite Vic Gay to the meeting zeus-3 as viewer",
            "Invite Vic Gay to the project zeus-3 as viewer, not editor",
            "Who invited Vic Gay to the project zeus-3 as viewer",
            "Invite Vic Gay and Wim Hoe to the project zeus-3 as viewer",
        ],
    ),
    Kind(
        "What is the balance of account {a} of {n}?",
        [{"a": "AC-1", "n": "Ann Lee"}, {"a": "AC-2", "n": "Bob Ray"}],
        [("balance", {"account": "{a}", "owner": "{n}"}, True)],
        [
            ("What is the balance of the account {a} of {n}", {"a": "AC-9", "n": "Cid Roe"}),
            ("Hi, what is the balance of account {a} of {n}? Thanks", {"a": "AC-8", "n": "Dee Poe"}),
            ("what is the balance of account {a} of {n} please", {"a": "AC-7", "n": "Eve Moe"}),
        ],
        [
            "What was the balance of account AC-9 of Cid Roe?",
            "What is the limit of account AC-9 of Cid Roe?",
            "What is the balance of account AC-9 of Cid Roe in dollars?",
            "Set the balance of account AC-9 of Cid Roe",
            "Why is the balance of account AC-9 of Cid Roe negative?",
        ],
    ),
    Kind(
        "Schedule a call with {n} at {t} on {d}",
        [{"n": "Ann Lee", "t": "14:30", "d": "2026-03-02"}, {"n": "Bob Ray", "t": "09:15", "d": "2026-03-05"}],
        [("free_slots", {"day": "{d}"}, True), ("create_event", {"with": "{n}", "day": "{d}", "time": "{t}"}, False)],
        [
            ("Please schedule a call with {n} at {t} on {d}", {"n": "Cid Roe", "t": "16:00", "d": "2026-04-01"}),
            ("I want you to schedule a call with {n} at {t} on {d}", {"n": "Dee Poe", "t": "11:45", "d": "2026-04-02"}),
            ("Schedule the call with {n} at {t} on {d} please", {"n": "Eve Moe", "t": "10:00", "d": "2026-04-03"}),
        ],
        [
            "Reschedule a call with Cid Roe at 16:00 on 2026-04-01",
            "Schedule a call with Cid Roe after 16:00 on 2026-04-01",
            "Schedule a visit with Cid Roe at 16:00 on 2026-04-01",
            "Schedule a call without Cid Roe at 16:00 on 2026-04-01",
            "When is the call with Cid Roe at 16:00 on 2026-04-01",
            "Schedule a call with Cid Roe at 16:00 on 2026-04-01 and cancel the one with Eve Moe",
            "Schedule a weekly call with Cid Roe at 16:00 on 2026-04-01",
        ],
    ),
    Kind(
        "Post the release notes of version {v} in the {c} channel",
        [{"v": "2.4.1", "c": "announcements"}, {"v": "2.4.2", "c": "engineering"}],
        [("release_notes", {"version": "{v}"}, True), ("post", {"channel": "{c}", "version": "{v}"}, False)],
        [
            ("Please post the release notes of version {v} in the {c} channel", {"v": "3.0.0", "c": "support"}),
            ("Could you post the release notes of version {v} in the {c} channel?", {"v": "3.0.1", "c": "sales"}),
            ("post release notes of version {v} in the {c} channel", {"v": "3.0.2", "c": "general"}),
        ],
        [
            "Post the release date of version 3.0.0 in the support channel",
            "Remove the release notes of version 3.0.0 in the support channel",
            "Post the release notes of version 3.0.0 in every channel",
            "Post the release notes of versions 3.0.0 and 3.0.1 in the support channel",
            "Post the release notes since version 3.0.0 in the support channel",
        ],
    ),
]
