"""A prompt put in other words by one kind of edit is the same prompt, and its trap of the same shape is not."""

from __future__ import annotations

import pytest

from semcache.request.wording import ALL, Edit, canonical, strictest

SAME: dict[Edit, list[tuple[str, str]]] = {
    Edit.CHARACTERS: [
        ("How do I take a screenshot on a windows laptop", "How do I take a screenshot on a Windows laptop?"),
        ("How do I open a word document?", "How do I open a Word document"),
        ("What is the capital of Peru?", "what is the  capital of peru"),
        ("WHY DO CATS PURR AT NIGHT", "Why do cats purr at night?!"),
        ("How tall is K2 ?", "how tall is K2"),
        ("What does \u201ccarpe diem\u201d mean?", 'What does "carpe diem" mean?'),
        ("is \ufb01bre good for you", "Is fibre good for you?"),
        ("Which nuts, seeds, and grains are cheap", "Which nuts, seeds and grains are cheap?"),
        ("best JavaScript course for me", "best javascript course for me"),
    ],
    Edit.CONTRACTION: [
        ("what's a monsoon", "what is a monsoon"),
        ("why don't fish sleep", "why do not fish sleep"),
        ("I can't sleep at night, why", "I cannot sleep at night, why"),
        ("who's the pope", "who is the pope"),
        ("I'm gonna move to Oslo, is it cold", "I am going to move to Oslo, is it cold"),
    ],
    Edit.SPELLING: [
        ("what colour is the sky", "what color is the sky"),
        ("how is oesophagitis treated", "how is esophagitis treated"),
        ("what is hyperkalaemia", "what is hyperkalemia"),
        ("how do I organise a party", "how do I organize a party"),
        ("where is the city centre of Lyon", "where is the city center of Lyon"),
        ("is travelling alone safe", "is traveling alone safe"),
    ],
    Edit.FILLER: [
        ("Hi team, what is a merge queue?", "what is a merge queue"),
        ("um, so why is the sky blue", "why is the sky blue"),
        ("could you please name the planets", "name the planets"),
        ("What is the tallest tree? Thanks in advance!", "what is the tallest tree"),
        ("quick question: who invented the zip", "who invented the zip"),
        ("Dear support team, where is my parcel", "where is my parcel"),
        ("Okay so, honestly, where do eels breed, anyway?", "where do eels breed"),
        ("what on earth is a quark", "what is a quark"),
        ("Hi there, hope you are well. Where is Utah?", "where is Utah"),
        ("It would be great if you could list the tides", "list the tides"),
        ("please list the planets", "list the planets"),
        ("Hiya, sorry to bother you, how do bees fly", "how do bees fly"),
    ],
    Edit.NUMBER: [
        ("what is 3 per cent of 1,000", "what is three percent of 1000"),
        ("is half a gigabyte of memory enough for it", "is 0.5 GB of memory enough for it"),
        ("tax on a salary of 48k in Spain", "tax on a salary of 48,000 in Spain"),
        ("how many days are in twenty five weeks", "how many days are in 25 weeks"),
        ("who was the 2nd man on the moon", "who was the second man on the moon"),
        ("how long does it take to run 5 km", "how long does it take to run 5 kilometres"),
        ("what is one hundred and five in binary", "what is 105 in binary"),
        ("is \u00bd a cup of rice enough", "is half a cup of rice enough"),
        ("who won World War II", "who won World War 2"),
        ("does it take half an hour to walk there", "does it take 30 minutes to walk there"),
        ("is a 3 kW kettle quick", "is a 3 kilowatt kettle quick"),
        ("how wide is a 12 m\u00b2 room", "how wide is a 12 square metre room"),
        ("is it two-thirds full", "is it 2/3 full"),
        ("what was sold for 15 GBP", "what was sold for \u00a315"),
        ("is 2.5 million a lot for a house", "is 2500000 a lot for a house"),
    ],
    Edit.ABBREVIATION: [
        ("where do I find info on visas", "where do I find information on visas"),
        ("can u swim w/o goggles", "can you swim without goggles"),
        ("what is the population of the U.S.A.?", "what is the population of the United States"),
        ("what is open on Tue morning", "what is open on Tuesday morning"),
        ("what is the max load of a crane", "what is the maximum load of a crane"),
        ("How do I change my phone no.?", "How do I change my phone number?"),
        ("where do I find my account no", "where do I find my account number"),
        ("what is the serial no. of my bike", "what is the serial number of my bike"),
        ("is approx. 5 enough", "is approximately 5 enough"),
        ("cats vs. dogs as pets for me", "cats versus dogs as pets for me"),
    ],
    Edit.FRAME: [
        ("How does somebody become a notary?", "How do I become a notary?"),
        ("What is the process of applying for a loan?", "How do I apply for a loan?"),
        ("How many kilometers is 12 miles?", "convert 12 miles to km"),
        ("14 stone in kg", "How many kilograms are there in 14 stone?"),
        ("what is 350F in C", "convert 350 degrees fahrenheit to celsius"),
        ("how many feet in a mile", "a mile is how many feet?"),
        ("What is 80 kg in pounds?", "80 kg to lbs"),
        ("What's the full form of GPU?", "GPU stands for what?"),
        ("what is UNICEF short for", "What does the acronym UNICEF stand for?"),
        ("How do gouache and watercolor differ?", "what is the difference between gouache and watercolor"),
        ("Explain how a llama is different from an alpaca", "what is the difference between a llama and an alpaca"),
        ("When's the best time to prune roses?", "what is the best time to prune roses"),
        ("Guernica was painted by whom?", "who painted Guernica"),
        ("Which artist painted Guernica?", "who painted Guernica"),
        ("Name the deepest lake in Asia", "what is the deepest lake in Asia"),
        ("What is the number of keys on a piano?", "how many keys are on a piano"),
        ("how can I bake bread", "how do I bake bread"),
        ("Which city is New Zealand's capital?", "What is the capital of New Zealand?"),
        ("steps to bake bread", "how would I bake bread"),
        ("tell me how to bake bread", "what is the way to bake bread"),
        ("What are the steps to bake bread?", "how to bake bread"),
        ("tell me what inflation is", "what is inflation"),
        ("tell me who the king of Spain is", "who is the king of Spain"),
        ("do you know where the Louvre is", "where is the Louvre"),
        ("explain how a jet engine works", "how does a jet engine work"),
        ("why the old bridge collapsed", "why did the old bridge collapse"),
        ("when the museum opens", "when does the museum open"),
        ("why my phone is hot", "why is my phone hot"),
        ("how many legs a crab has", "how many legs does a crab have"),
        ("Name the capital of Chad", "what is the capital of Chad"),
        ("ways to remove ink", "how do I remove ink"),
        ("How come salt melts ice", "why does salt melt ice"),
        ("procedure for returning a parcel", "how do I return a parcel"),
        ("what is the meaning of the word bard", "what does the word bard mean"),
    ],
    Edit.ORDER: [
        ("Is a mushroom a plant or a fungus?", "is a mushroom a fungus or a plant"),
        ("Do people in marketing and sales travel a lot?", "do people in sales and marketing travel a lot"),
        ("difference between UDP and TCP", "difference between TCP and UDP"),
        ("what is the difference between a tuple and a list in Python", "what is the difference between a list and a tuple in Python"),  # noqa: E501
        ("In Python, how do I reverse a list?", "How do I reverse a list in Python?"),
        ("what the difference between UDP and TCP is", "what the difference between TCP and UDP is"),
        ("How to undo the last git commit?", "How do I undo the last commit in git?"),
        ("create a Python virtual environment", "In Python, create a virtual environment"),
        ("write an SQL query", "write a query in SQL"),
        ("compare Rust and Kotlin for servers", "compare Kotlin and Rust for servers"),
        ("what do owls and bats have in common", "what do bats and owls have in common"),
        ("which is faster, a train or a bus", "which is faster, a bus or a train"),
        ("recipes with eggs and flour", "recipes with flour and eggs"),
        ("how far apart are Oslo and Bergen", "how far apart are Bergen and Oslo"),
        ("what is the product of 8 and 3", "what is the product of 3 and 8"),
        ("are a crow and a raven related", "are a raven and a crow related"),
        ("is zinc interchangeable with copper", "is copper interchangeable with zinc"),
        ("without a car, how do I reach Oban", "how do I reach Oban without a car"),
    ],
    Edit.TYPO: [
        ("what is the captial of peru", "what is the capital of peru"),
        ("how do i recieve a refund", "how do i receive a refund"),
        ("is the enviroment in danger", "is the environment in danger"),
        ("where is Argentinna", "where is Argentina"),
        ("why is the goverment so slow", "why is the government so slow"),
        ("how does a kubernets cluster work", "how does a kubernetes cluster work"),
        ("what is the best langauge for beginners", "what is the best language for beginners"),
    ],
}  # fmt: skip

TRAPS = [
    ("Why does my stomach hurt when I haven't eaten?", "Why doesn't my stomach hurt when I have eaten?"),
    ("Which foods are high in zinc but not in iron?", "Which foods are not high in zinc but in iron?"),
    ("Is there a risk of not eating?", "Isn't there a risk of eating?"),
    ("How can someone hack my phone?", "How can I hack my phone?"),
    ("How would someone know if I blocked them?", "How would I know if I blocked them?"),
    ("Is it possible for someone to track my phone?", "Can I track my phone?"),
    ("What is the process of dying?", "How do I die?"),
    ("How do people die?", "How do I die?"),
    ("Evaluate the integral of sin x between 0 and pi", "Evaluate the integral of sin x between pi and 0"),
    ("Write a letter to us", "Write a letter"),
    ("Convert UK size 8 to US", "Convert UK size 8"),
    ("convert 12 miles to km", "convert 12 km to miles"),
    ("how many miles are 12 km", "how many km are 12 miles"),
    ("how many kg is 14 stone", "how many kg is 14 stone of rice"),
    ("how many hours in 3 days", "how many hours in 3 weeks"),
    ("run 10 km in 50 minutes", "run 50 km in 10 minutes"),
    ("What does GPU stand for?", "What does GPU mean for gamers?"),
    ("Name the deepest lake in Asia", "Name the deepest lakes in Asia"),
    ("How do prices differ between Oslo and Rome?", "What is the difference between Oslo and Rome?"),
    ("How did Lenin differ from Stalin?", "How did Lenin differ from Trotsky?"),
    ("a recipe for 6 uses 450 g of flour", "a recipe for 4 uses 450 g of flour"),
    # a clause of its own behind "and"
    ("My sister married Bob and Carol married my cousin", "My sister married Carol and Bob married my cousin"),
    ("The loan is with Bob and Carol holds the deposit", "The loan is with Carol and Bob holds the deposit"),
    ("my boss is Bob and Carol is my friend, who pays", "my boss is Carol and Bob is my friend, who pays"),
    ("I roasted a chicken and the sauce came out", "I roasted the sauce and a chicken came out"),
    ("Why did the moon orbit x and y orbit the sun", "Why did the moon orbit y and x orbit the sun"),
    ("The beam rests on the wall and the vault on the pier", "The beam rests on the vault and the wall on the pier"),
    ("The cafe is left of Bob's and Ann's right of it", "The cafe is left of Ann's and Bob's right of it"),
    ("add table b and remove table c", "add table c and remove table b"),
    ("the ratio between x and y", "the ratio between y and x"),
    ("Which woman has won the most medals", "Who has won the most medals"),
    ("Who is the man who has won the most medals", "Who has won the most medals"),
    ("I live in Rome and Oslo is where I work", "I live in Oslo and Rome is where I work"),
    ("read a Python file", "read a file in Python"),
    ("undo the last git commit", "undo the last commit in a git tag"),
    ("edit a git commit message", "edit a commit message in git tag"),
    ("Which city is France's largest?", "What is the capital of France?"),
    ("what does the git commit do", "what does git commit do"),
    # characters
    ("what is 5!", "what is 5"),
    ("how do I tell a customer no", "how do I tell a customer number"),
    ("how do I politely say to a customer no", "how do I politely say to a customer number"),
    ("what is the derivative of x!?", "what is the derivative of x?"),
    ("compute n!", "compute n"),
    ("what does US stand for", "what does us stand for"),
    ("is IT hard", "is it hard"),
    ("how does the WHO work", "how does the who work"),
    ("treatment of AIDS", "treatment of aids"),
    ("is it Polish", "is it polish"),
    ("who led the March on Rome", "who led the march on Rome"),
    ("You like tea.", "You like tea?"),
    # contractions
    ("why can't I stop", "why can I stop"),
    ("it isn't safe to eat", "it is safe to eat"),
    ("what's happened to Concorde", "what is happened to Concorde"),
    # spelling
    ("what is the Labour Party", "what is the Labor Party"),
    ("translate the word colour", 'translate the word "color"'),
    # fillers
    ("hello world in Java", "world in Java"),
    ("how do I please my boss", "how do I my boss"),
    ("how do I say thank you", "how do I say"),
    ("well water testing", "water testing"),
    ("can you tell me if eggs float", "tell me eggs float"),
    ("question-answering systems", "answering systems"),
    # numbers
    ("what is new in 3.10", "what is new in 3.1"),
    ("is a 4k screen good", "is a 4000 screen good"),
    ("what is a 401k plan", "what is a 401000 plan"),
    ("how much is 5 pounds of beef", "how much is \u00a35 of beef"),
    ("is 300K warm", "is 300000 warm"),
    ("is 3 MB enough", "is 3 Mb enough"),
    ("any number between one hundred and two hundred", "any number between 102 hundred"),
    ("is half a gigabyte enough", "is 512 MB enough"),
    ("wait one second", "wait one 2nd"),
    # abbreviations
    ("does us law bind me", "does US law bind me"),
    ("how do I plot in r", "how do I plot in are"),
    # frames
    ("can I bake bread", "how do I bake bread"),
    ("should I bake bread", "how do I bake bread"),
    ("why do I bake bread", "how do I bake bread"),
    ("what is the best way to bake bread", "how do I bake bread"),
    ("how can I not snore", "how can I snore"),
    ("who is Paris", "where is Paris"),
    ("when is the exam", "where is the exam"),
    ("how do you feel", "how do I feel"),
    # order
    ("was Troy before Rome and Greece", "was Troy before Greece and Rome"),
    ("flights from Oslo to Rome", "flights from Rome to Oslo"),
    ("how do I fry and serve fish", "how do I serve and fry fish"),
    ("history of rock and roll", "history of roll and rock"),
    ("the ratio of boys and girls", "the ratio of girls and boys"),
    ("difference between a list in C and an array", "difference between an array in C and a list"),
    ("is Python like C", "is C like Python"),
    ("what is the difference of 9 and 4", "what is the difference of 4 and 9"),
    ("did Ann and then Bob leave", "did Bob and then Ann leave"),
    ("is 9 minus 4 more than 3", "is 4 minus 9 more than 3"),
    ("are cats and dogs respectively felines and canines", "are dogs and cats respectively felines and canines"),
    # more of each
    ("what is just cause", "what is cause"),
    ("who actually wrote it", "who wrote it"),
    ("is a 5 MB/s line good", "is a 5 Mb/s line good"),
    ("is 3 mW a lot", "is 3 MW a lot"),
    ("is 5 GB a lot", "is 5 Gb a lot"),
    ("is it 20 USD", "is it $20"),
    ("is it 2 km or miles", "is it 2 miles or km"),
    ("does 30 minutes suffice", "does 30 seconds suffice"),
    ("what does NYC stand for", "what does New York City stand for"),
    ("is there no 2 in it", "is there number 2 in it"),
    ("what temp agency is good", "what temperature agency is good"),
    ("does the CSS value text-align: centre work", "does the CSS value text-align: center work"),
    ("what does organise($x) do", "what does organize($x) do"),
    ("when did the shop open", "when does the shop open"),
    ("why was the road closed", "why is the road closed"),
    ("what animal eats ants", "what do animals eat"),
    ("how do you feel today", "how do I feel today"),
    ("can I remove ink", "ways to remove ink"),
    ("what do lions that eat fish hunt", "what eats lions that hunt fish"),
    # slips that are words or names
    ("how weak is it", "how week is it"),
    ("a letter form the bank", "a letter from the bank"),
    ("how do I turn on the tv", "how do I turn off the tv"),
    ("is it a good idea", "is it not a good idea"),
    ("is there a cure", "is there no cure"),
    ("who is jorgen", "who is jordan"),
    ("is kotlin good", "is cotton good"),
    ("where is xiaomi from", "where is miami from"),
    ("how do I use axios", "how do I use axis"),
    ("what is a subnet", "what is a subset"),
    ("what is a quantile", "what is a quartile"),
    ("how do I write a docstring", "how do I write a doctrine"),
    ("is a superset open", "is a sunset open"),
    ("is the Golang of Adidsa good", "is the Golang of Adidas good"),
]


@pytest.mark.parametrize(
    ("kind", "one", "two"), [(kind, one, two) for kind, pairs in SAME.items() for one, two in pairs]
)
def test_the_kind_of_edit_makes_two_prompts_one(kind: Edit, one: str, two: str) -> None:
    assert canonical(one).text == canonical(two).text
    assert strictest(one, two) == kind == strictest(two, one)
    assert strictest(one, two, ALL - {kind}) is None


@pytest.mark.parametrize(("one", "two"), TRAPS)
def test_no_edit_makes_different_prompts_one(one: str, two: str) -> None:
    assert canonical(one).text != canonical(two).text
    assert strictest(one, two) is None


@pytest.mark.parametrize(
    "span",
    [
        '"Recieve  the COLOUR, please"',
        "\u00abRecieve  the COLOUR\u00bb",
        "'Don't  organise the $colour'",
        "`git  commit -m colour`",
        "```\nColour  = 1\n```",
        "https://example.org/Colour/recieve?a=1,000",
        "snake_Colour",
        "camelColour",
        "os.Path.recieve",
        "/usr/local/Colour",
        "Colour@recieve.org",
        "v1.2.30",
        "$x^2 + Colour$",
    ],
)
def test_a_protected_span_stays_to_the_letter(span: str) -> None:
    wording = canonical(f"Hi, could you tell me what {span} does in my programme?? Thanks!")
    assert span in wording.text
    assert "program" in wording.text


@pytest.mark.parametrize(
    "text",
    [
        "for i in range(3):\n    print(i)  # recieve the colour",
        "if (x == 5) { Return colour; }",
        "const Colour = () => 5;",
    ],
)
def test_code_is_left_as_it_is(text: str) -> None:
    assert canonical(text).text == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Wie  heißt die Hauptstadt von Peru?", "wie heißt die hauptstadt von peru"),
        ("¿Cuál es la capital  de Perú?", "cuál es la capital de perú"),
        ("Was ist der Nutzen von UDP und TCP", "was ist der nutzen von udp und tcp"),
        ("İstanbul  nerede?", "İstanbul nerede"),
        ("日本の首都は？", "日本の首都は"),
    ],
)
def test_another_language_gets_what_is_safe_in_any(text: str, plain: str) -> None:
    wording = canonical(text)
    assert wording.text == plain
    assert set(wording.edits) <= {Edit.CHARACTERS}


def test_the_edits_that_changed_a_text_are_named_in_order() -> None:
    wording = canonical("Hi team, what's the best colour for a captial letter?")
    assert wording.text == "what is the best color for a capital letter"
    assert wording.edits == (Edit.CHARACTERS, Edit.CONTRACTION, Edit.SPELLING, Edit.FILLER, Edit.TYPO)
    assert canonical(wording.text).edits == ()


def test_a_kind_that_is_switched_off_changes_nothing() -> None:
    text = "what's the captial of Peru?"
    assert canonical(text, frozenset()).text == text
    assert canonical(text, frozenset({Edit.CONTRACTION})).text == "what is the captial of Peru?"
    assert "captial" in canonical(text, ALL - {Edit.TYPO}).text


def test_a_long_text_is_returned_as_it_is() -> None:
    text = "What's  the colour? " * 250
    assert canonical(text).text == text
    assert canonical(text).edits == ()


@pytest.mark.parametrize(
    ("one", "two", "equal"),
    [
        ("What is the difference between salt & pepper?", "What is the difference between salt and pepper?", True),
        ("What does a & b do in Python?", "What does a and b do in Python?", False),
        ("What is the result of 6 & 3 in Python?", "What is the result of 6 and 3 in Python?", False),
        ("What does the & operator do in C?", "What does the and operator do in C?", False),
        ("What does & do in bash?", "What does and do in bash?", False),
    ],
)
def test_an_operator_is_no_and(one: str, two: str, equal: bool) -> None:
    assert (strictest(one, two, ALL) is not None) is equal
