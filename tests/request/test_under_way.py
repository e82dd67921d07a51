"""How things stand is asked anew each time, although the question names no moment; how they usually are is not."""

from __future__ import annotations

import pytest

from semcache.request.kinds import is_live

STANDS = """
Are all pods healthy?|is checkout broken again|Is prod green?|Which builds failed overnight?|Any updates?
cpu usage of web-3|disk space left on the nas?|Did the market close up?|any news on the merger
Is the 7:40 to Brighton on time?|Is my local tube line running?|Are trains running between Leeds and York?
Do you know if the 9:15 train is delayed?|Are the ferries sailing to Arran?|Is the Victoria line suspended?
Is the A1 clear northbound?|Is the M6 blocked near Stoke?|Is I-95 congested?|Are the roads icy?|Is the pass snowed in?
How long is the queue at the passport office?|How long is the wait at the ER?|How full is the parking garage downtown?
Is the gym full?|Are all lifts operating?|Is the lift out of order?|Is the restaurant fully booked?
Are there tickets left for the concert?|Is meeting room 4 free?|Is there a parking spot free on level 2?
What's playing at the Apollo?|What's on at the theatre?|What films are showing at the Rex?|What's on BBC One?
Are the pilots on strike?|Is the tube strike going ahead?|Is there an outage at Vodafone?|Has the ceasefire held?
Who's ahead in the French election?|Which candidate is leading in Ohio?|Is Biden leading in the polls?
Is Verstappen winning the championship?|Is Messi injured?|Who do England play next?|What's the score?
Is it foggy in San Francisco?|Do I need an umbrella in London?|How deep is the snow in Zermatt?|Is Etna erupting?
gas prices near Denver|Where is petrol cheapest in Leeds?|How much is a litre of diesel?|How did the Nasdaq close?
How many yen do I get for a euro?|Is Slack down for everyone?|Is the staging environment healthy?
How many people are online?|Is Anna in the office?|Is the pharmacy on Main Street open?|Are schools closed in Boston?
I'm at the station already. Is the 9:15 to Leeds on time?|What month is it?|Did the museum open?
Are all pods healthy?|Which nodes are unhealthy?|is web-3 up|Is the checkout broken again?|prod down?|AAPL?|any updates?
How many calls are we getting?|CPU load on db-4|Any tables free tonight?|How is the auction going?|Is the moon out?
How many visitors are on the site?|Which builds failed?|Who broke the build?|Is the tide out?|Are we still in lockdown?
When was the last backup?|Is the senator still in office?|gold price per gram|Is everything ok with the database?
"""
USUAL = """
Are trains in Japan always on time?|Are the buses running on diesel?|Is the A303 a dual carriageway?
Are the roads icy in winter?|Is the lift big enough for a wheelchair?|How long is the wait for a replacement card?
How long is the line of succession?|How full should a car battery be?|Is the gym usually full?|Is the car park free?
Are there free tours of the castle?|Is room service free?|What's on a BLT sandwich?|What's showing on the x axis?
Which movies did Kubrick make?|Are pilots allowed to strike?|Is a strike an extraordinary circumstance?
Which party was in power in 1985?|Is it hot in Dubai in December?|Do I need an umbrella in Bergen in June?
How deep is the Mariana Trench?|Is Etna a stratovolcano?|Why is petrol more expensive than diesel?
How are petrol prices made up?|Is the queue thread-safe in Python?|What happens if AWS goes down?
Is drinking distilled water healthy?|Is Heathrow in London?|Is the set of all rational numbers open?
How many active volcanoes are there?|How many open strings are there?|How high is the tide in the Bay of Fundy?
Is the museum open on Mondays?|Are teachers civil servants?|When was the bridge closed?|Is the server stateless?
How do I check if a pod is healthy?|How can I tell if the server is down?|Are all fats healthy?|What is a queue depth?
How do I always use the latest version of a tool?|Which builds does a pipeline need?|When was the last ice age?
What is a health check?|How is an auction run?|Who invented the tide table?|What is an error rate?
"""


@pytest.mark.parametrize("text", [text for line in STANDS.split("\n") for text in line.split("|") if text])
def test_how_a_thing_stands_is_of_this_moment(text: str) -> None:
    assert is_live(text)


@pytest.mark.parametrize("text", [text for line in USUAL.split("\n") for text in line.split("|") if text])
def test_how_a_thing_usually_is_holds_on_any_day(text: str) -> None:
    assert not is_live(text)
