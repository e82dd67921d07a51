"""Verbs of what is asked of an assistant, as alternatives of expressions.

"Can you draft an email" asks for one; "can you draft a will" asks what anybody may do, and "would you choose a Tesla"
what one thinks. Invariant: what `FOR_WORDS` and `WORDS_OF_ANYBODY` match asks for words and for nothing else.
"""

from __future__ import annotations

from semcache.request.wording.ways import THEIR_OWN

VERB = (
    r"(?:explain|give|list|show|write|translate|summarize|describe|tell|suggest|recommend|provide|compare|define|find"
    r"|create|generate|teach|name|calculate|convert|outline|clarify|help|solve|fix|rewrite|draft|check|count|identify"
    r"|walk(?=[ ](?:me|us)\b)|spell|say|let|inform|remind|pick|choose|rank|paraphrase|proofread"
    r"|correct|analyze|evaluate|sketch"
    r"|illustrate|tabulate|estimate|compute|prove|derive|simplify|design|propose|discuss|mention|break down|go over"
    r"|put together|come up with|look up|work out|figure out|sort|format|edit|plan|prepare|develop|brainstorm|expand"
    r"|shorten|extract|classify|categorize|highlight|elaborate|interpret|complete|continue|determine|select|produce"
    r"|implement|debug|refactor|optimize|review|guess|predict|answer|share|print|output|display|demonstrate|detail"
    r"|cite|transcribe|reword|rephrase|condense|decode|encode|factor|integrate|plot|draw|point out|fill)\b"
)
_SAYING = (
    r"(?:explain|give|list|show|summarize|describe|tell|suggest|recommend|provide|compare|define|clarify|outline|help"
    r"|translate|elaborate|rephrase|reword|paraphrase|proofread|brainstorm|break down|go over|come up with|write"
    r"|rewrite|walk(?=[ ](?:me|us)\b)|inform|remind|advise|discuss|illustrate|interpret|answer|mention)\b"
)
_TEXTS = (
    r"(?:abstract|ad|agenda|algorithm|analogy|announcement|apology|article|bio|caption|chart|class|code|commands?"
    r"|description|diagram|dialogue|e?mails?|equation|essay|examples?|exercise|explanation|expression|formula|function"
    r"|haiku|headline|integral|introduction|invitation|itinerary|joke|letter|limerick|list|logo|lyrics|meal[ ]plan|memo"
    r"|menu|message|names?|numbers?|outline|paragraph|passage|plan|poem|policy|prompt|proposal|query|questions?|quiz|recipe"
    r"|regex|regular[ ]expression|reply|report|response|schedule|schema|script|sentences?|slogan|snippet|song|speech"
    r"|statement|story|summary|synonyms?|table|tagline|template|text|title|toast|translation|tweet|workout|words?)\b"
)
_COUNT = r"(?:\d+|one|two|three|four|five|six|seven|eight|ten|twelve)"
# What "can you" asks of the reader, and not of anybody.
FOR_WORDS = (
    rf"(?:{_SAYING}|(?!(?:say|let|guess|choose|pick|select|share)\b){VERB}(?:[ ](?:me|us|this|these|the[ ](?:following"
    rf"|below)|whether|if|that|what|which|how|where|when|why|who)\b"
    rf"|[ ](?:(?:an?|the|my|some|{_COUNT})[ ])?(?:[\w'-]+[ ]){{0,2}}?{_TEXTS})"
    r"|(?:calculate|compute|convert|differentiate|evaluate|factor|integrate|round|simplify|solve)[ ](?:for[ ])?\S*\d"
    rf"|(?:name|identify|calculate|compute|count|derive|evaluate|simplify|spell)[ ](?:the|all|every|some|{_COUNT})\b)"
)
# What "would you" asks for rather than for the reader's taste, and "can anyone" for rather than for who can do it.
WORDS_OF_YOURS = (
    r"(?:explain|summarize|clarify|outline|translate|elaborate|rephrase|paraphrase|proofread|write|rewrite)\b"
)
WORDS_OF_ANYBODY = (
    r"(?:explain|summarize|describe|suggest|recommend|compare|define|clarify|outline|help|elaborate|rephrase|break down"
    r"|go over|advise)\b"
    r"|(?:give|show|tell|list|translate|write|proofread|walk|remind|teach|find|name|send)[ ](?:me|us)\b"
)
# Who is asked if they know how to do it may be asked if they can: "do you know how to swim".
SKILL = rf"how to (?!(?:{'|'.join(sorted(THEIR_OWN))}) \S)"
