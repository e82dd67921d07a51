"""Prompts of opposite polarity must not share an answer; a double negative and an idiom must not stand in the way."""

from __future__ import annotations

import pytest

from semcache.matching.guards.opposites import AXES
from tests.matching.guards.verdicts import DOUBT, NOTHING, VETO, verdict

ROWS = [
    ("How do I thicken gravy?", "How do I thin gravy?", VETO),
    ("Who preceded Queen Anne?", "Who succeeded Queen Anne?", VETO),
    ("What is the formula of zinc nitrate?", "What is the formula of zinc nitrite?", VETO),
    ("Write a recursive binary search", "Write an iterative binary search", VETO),
    ("Did Rome fall before Cordoba flourished?", "Did Cordoba flourish after Rome fell?", False),
    ("Did Rome fall before Cordoba flourished?", "Did Rome fall after Cordoba flourished?", True),
    ("Is sound slower in air than in steel?", "Is sound faster in steel than in air?", False),
    ("Is sound slower in air than in steel?", "Is sound faster in air than in steel?", True),
    ("Do farms sell more milk than cheese?", "Do farms sell less cheese than milk?", False),
    ("Do farms sell more milk than cheese?", "Do farms sell less milk than cheese?", True),
    ("Must I insure a van my boss lends me?", "Must I insure a van I borrow from my boss?", False),
    ("Must I insure a van I borrow from my boss?", "Must I insure a van I lend to my boss?", True),
    ("Was Skype sold to Microsoft by eBay?", "Was Skype bought by Microsoft from eBay?", False),
    ("Where can I buy a cello?", "Where can I sell a cello?", True),
    ("Is it safe to take aspirin with alcohol?", "Is it unsafe to take aspirin with alcohol?", True),
    ("How do I declare a constant in Swift?", "Declaring a variable in Swift", True),
    ("Is it not safe to take aspirin?", "Is it unsafe to take aspirin?", False),
    ("Is aspirin safe?", "Is aspirin not unsafe?", False),
    ("How do I enable two-factor login?", "How do I disable two-factor login?", True),
    ("How do I turn on dark mode?", "How do I turn off dark mode?", True),
    ("How do I turn dark mode on or off?", "How do I turn off dark mode?", False),
    ("How do I increase the brightness?", "How can I decrease the brightness?", True),
    ("Increasing brightness", "How to increase the brightness", False),
    ("When should I buy shares?", "When should I sell shares?", True),
    ("Allow cookies in Chrome", "Deny cookies in Chrome", True),
    ("How do I start the service?", "How do I stop the service?", True),
    ("What is the best desert in Chile?", "What is the best dessert in Chile?", True),
    ("Where are personal records kept?", "Where are personnel records kept?", True),
    ("Who makes the statues in New York?", "Who makes the statutes in New York?", True),
    ("What is a canon?", "What is a cannon?", True),
    ("How do I compliment a dish?", "How do I complement a dish?", True),
    ("How do I begin the service?", "How do I start the service?", False),
    ("Does the price include tax?", "Does the price exclude tax?", True),
    ("Should I eat before a workout?", "Should I eat after a workout?", True),
    ("Find the minimum of a list", "Find the maximum of a list", True),
    ("Find the min of a list", "Find the minimum of a list", False),
    ("Sort a list in ascending order", "Sort a list in descending order", True),
    ("Get the first element", "Get the last element", True),
    ("Is it legal to record calls?", "Is it illegal to record calls?", True),
    ("Foods that contain gluten", "Foods that do not contain gluten", True),
    ("Recipes with eggs", "Recipes without eggs", True),
    ("Why does my phone charge?", "Why doesn't my phone charge?", True),
    ("Why can't I log in?", "How can I log in?", True),
    ("Why can't I log in?", "Why cannot I log in?", False),
    ("Why cant I log in", "Why am I unable to log in?", False),
    ("Can't I pay by card?", "Can I pay by card?", False),
    ("Isn't Python slow?", "Is Python slow?", False),
    ("Is Python slow or not?", "Is Python slow?", False),
    ("Why not use tabs?", "Why use tabs?", False),
    ("It's a good plan, isn't it?", "Is it a good plan?", False),
    ("I don't know how to reset my router", "How do I reset my router?", False),
    ("I never got my parcel", "I got my parcel", True),
    ("Never not use seat belts?", "Use seat belts?", False),
    ("All items except shoes", "All items and shoes", True),
    ("Do I pay unless I cancel?", "Do I pay if I cancel?", True),
    ("My card is not working", "My card is broken", False),
    ("Fly north from Perth", "Fly south from Perth", True),
    ("Give me the mean of this list", "Give me the median of this list", True),
    ("Convert this PDF to CSV", "Convert this PDF to JSON", True),
    ("Is the dog allowed chocolate?", "Is the cat allowed chocolate?", True),
    ("Upload a file to S3", "Download a file from S3", True),
    ("Encode text as base64", "Decode text from base64", True),
    ("What are the pros of remote work?", "What are the cons of remote work?", True),
    ("What are the advantages of remote work?", "What are the benefits of remote work?", False),
    ("Signs of hypertension", "Signs of hypotension", True),
    ("Subscribe to the newsletter", "Unsubscribe from the newsletter", True),
    ("Did my payment succeed?", "Did my payment fail?", True),
    ("At least five items", "At most five items", True),
    ("Is this compound unreactive?", "Is this compound reactive?", True),
    ("How do I cancel my plan?", "What's the way to cancel my plan?", False),
    ("The derivative of sin x", "The integral of sin x", True),
    ("Uninstall the app", "Install the app", True),
    ("Is the deposit refundable?", "Can I get the deposit back?", False),
    ("What are the arguments against the death penalty?", "What are the arguments for the death penalty?", VETO),
    ("Which is the case against a wealth tax?", "What speaks against a wealth tax?", NOTHING),
    ("iit w/o coaching possible?", "Is it possible to get into IIT without coaching?", NOTHING),
    ("jwt in localStorage safe or no", "Is it safe to store JWTs in localStorage?", NOTHING),
    ("greenland EU yes/no", "Is Greenland a part of the EU?", NOTHING),
    ("no. of iits in 1990", "How many IITs were there in 1990?", NOTHING),
    ("Book the room on Monday morning", "Book the room on Monday evening", VETO),
    ("my gas bill went up, why", "my gas bill went down, why", VETO),
    ("What should I do during a quake?", "What should I do after a quake?", VETO),
    ("A charge that he denied", "A charge that he admitted", VETO),
    ("Screens wider than 600px", "Screens narrower than 600px", VETO),
    ("Is Bob taller than Alice?", "Is Bob shorter than Alice?", VETO),
    ("Is Bob taller than Alice?", "Is Alice shorter than Bob?", NOTHING),
    ("Which city is warmer, Rome or Paris?", "Which city is cooler, Rome or Paris?", VETO),
    ("Is it safer to fly than to drive?", "Is it more dangerous to fly than to drive?", VETO),
    ("reading a file in python", "writing a file in python", VETO),
    ("Tips for winning an argument", "Tips for losing an argument", VETO),
    (
        "Read the text below and say in a line what it is about",
        "Write one line on what the text below is about",
        NOTHING,
    ),
    ("How can I teach myself chess?", "How can I learn chess by myself?", NOTHING),
    ("prewar flats in Oslo", "postwar flats in Oslo", VETO),
    ("Are jellyfish harmful?", "Are jellyfish harmless?", VETO),
    ("Explain macroeconomics", "Explain microeconomics", VETO),
    ("What is deflation?", "What is inflation?", VETO),
    ("Who owned it prior to the war?", "Who owned it after the war?", VETO),
    ("How do I boil potatoes?", "How do I bake potatoes?", VETO),
    ("Find the area of a circle", "How many square cm does a circle have?", NOTHING),
    # Whoever asks whether to rent must not read why to buy, in any form of the words.
    ("Should I rent a house?", "Should I buy a house?", True),
    ("Is leasing a car wise?", "Is owning a car wise?", True),
    ("Which books were borrowed?", "Which books were lent?", True),
    ("How much was deposited?", "How much was withdrawn?", True),
    ("I gained weight, why?", "I lost weight, why?", True),
    ("What is the tax rate for single people?", "What is the tax rate for married people?", True),
    ("Which wired mouse is best?", "Which wireless mouse is best?", True),
    ("How do I insure a new car?", "How do I insure an old car?", True),
    ("Is there a free version of the app?", "Is there a paid version of the app?", True),
    ("How do I book a table?", "How do I cancel a table?", True),
    ("Can I cancel a booking?", "Can I cancel a reservation?", False),
    ("Why was the trip cancelled?", "Why was the trip renewed?", True),
    ("Can I uninvite a guest?", "Can I invite a guest?", True),
    # What was done to a thing is no opposite of what is asked about it.
    ("My account is frozen", "How do I unfreeze my account?", False),
    ("Where can I buy stamps?", "Where are stamps sold?", False),
    ("What is the cheapest laptop?", "What is the least expensive laptop?", False),
    ("What is the most expensive laptop?", "What is the least expensive laptop?", True),
    ("How do I make my laptop less slow?", "How do I make my laptop faster?", False),
    # Other ways to say "without" and "except".
    ("Are plants able to grow without sunlight?", "Can plants grow in the absence of sunlight?", False),
    ("Suggest vegetarian dinners except pasta", "Suggest vegetarian dinners other than pasta", False),
    ("Which dinners apart from pasta are quick?", "Which dinners with pasta are quick?", True),
    ("Can plants grow in the presence of salt?", "Can plants grow in the absence of salt?", True),
    # What the asker has never done before changes nothing; what somebody never does is asked about.
    ("How do I bleed a radiator?", "How do I bleed a radiator, I have never done it", False),
    ("Why does ice float?", "Why does ice float, I never understand this", False),
    ("Why does my cat eat grass?", "Why does my cat never eat grass?", True),
    ("Can I appeal against a fine?", "Can I appeal a fine?", False),
    ("How do I vote against the plan?", "How do I vote the plan?", True),
    ("Is garlic effective for colds?", "Is garlic effective against colds?", False),
    ("Is there evidence for a leak?", "Is there evidence against a leak?", True),
    ("everyone but the cook gets a bonus", "everyone except the cook gets a bonus", False),
    ("close all tabs but this one", "close all tabs except this one", False),
    ("Which nuts besides almonds are cheap?", "Which nuts are cheap, except almonds?", False),
    ("everyone and the cook gets a bonus", "everyone except the cook gets a bonus", True),
    ("it works but the sound is off", "it works except the sound is off", True),
    ("How can I speed up my slow printer?", "How can I make my printer faster?", False),
    ("How can I speed up my printer?", "How can I slow down my printer?", True),
    ("Which fish should be avoided with gout?", "Which fish should I avoid with gout?", False),
    ("Which fish should be avoided with gout?", "Which fish should be eaten with gout?", True),
    ("How do I save money?", "How can I spend less money?", False),
    ("a poem for my nephew", "poem for a niece", True),
    ("print in portrait", "landscape printing, how", True),
    ("Summarize this: sales fell in May", "sales fell in May. expand it", True),
    ("Summarize this: sales fell in May", "sales fell in May. summarise it", False),
    ("gift for grandma", "a gift for my grandmother", False),
    ("Best inland towns in Portugal", "Portugal, best coastal towns", True),
    ("Is a DUI a felony in Georgia?", "DUI in Georgia: misdemeanor?", True),
    ("5 cards, number of permutations", "number of combinations of 5 cards", True),
    ("How do I become a notary?", "ceasing to be a notary, how", True),
    ("How do I become a notary?", "becoming a notary, how", False),
    ("cancel a running github action", "github action queued: cancel it", True),
    ("Translate literally: it rains cats", "Translate idiomatically: it rains cats", True),
    ("Is the tunnel completely closed?", "tunnel: partially closed?", True),
    ("Is the tunnel completely closed?", "is the tunnel fully closed", False),
    ("feeding a cat only dry food", "feeding a cat mostly dry food", True),
    ("What is Poland mainly known for?", "What is Poland mostly known for?", False),
    ("clean a slightly stained carpet", "clean a heavily stained carpet", True),
    ("I can barely bend my knee", "I can easily bend my knee", True),
    ("only the main road is partly closed", "the main road is partly closed", False),
]


@pytest.mark.parametrize(("query", "cached", "expected"), ROWS)
def test_negation(query: str, cached: str, expected: bool) -> None:
    assert verdict("negation", query, cached) == (VETO if expected else NOTHING)


def test_no_word_is_its_own_opposite() -> None:
    for word, sides in AXES.items():
        axes = [axis for axis, _ in sides]
        assert len(axes) == len(set(axes)), word


# The trouble in one wording is the wish in another, and a season or a colour may be no more than the setting.
FAR_APART = [
    (
        "The terrier next door barks so loud at night that our whole family wakes up",
        "How could neighbours keep their small dog quiet after dark and stay friends",
    ),
    (
        "Why does the foliage of maple trees turn red come October?",
        "What goes on inside woods and parks when they lose their green?",
    ),
    (
        "Somebody wants to sell us an old tractor, which parts deserve a look?",
        "Checklist before one purchases farm machinery second hand",
    ),
]
NEAR = [
    ("Is the terrier next door too loud?", "Is the terrier next door too quiet?"),
    ("Why do maples turn red?", "Why do maples turn green?"),
    ("Which parts should I check before I sell a tractor?", "Which parts should I check before I buy a tractor?"),
]


@pytest.mark.parametrize(("query", "cached"), FAR_APART)
def test_opposites_in_texts_far_apart_are_a_doubt(query: str, cached: str) -> None:
    assert verdict("negation", query, cached) == DOUBT


@pytest.mark.parametrize(("query", "cached"), NEAR)
def test_opposites_in_texts_alike_are_a_veto(query: str, cached: str) -> None:
    assert verdict("negation", query, cached) == VETO


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Reject mail from senders at x.com", "Reject mail to recipients at x.com"),
        ("Print the usage to stderr", "Print the usage to stdout"),
        ("Compare the names case-insensitively", "Compare the names case-sensitively"),
        ("What do I ask as an interviewer?", "What do I ask as an interviewee?"),
    ],
)
def test_the_two_sides_of_a_mail_a_stream_and_a_comparison_are_opposites(one: str, two: str) -> None:
    assert verdict("negation", one, two) == VETO
