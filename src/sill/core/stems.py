"""Words as a search compares them: lower case, without the common ones, cut to what their forms share.

English endings and irregular forms are known; a word of any other language is compared as it stands.
"""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)?")

_COMMON_WORDS = """
a about also am an and are as at be been being but by can could did do does doing for from had has have having
he her hers him his how i i'd i'll i'm i've if in into is it it's its me mine my no not of on or our ours she so
some than that that's the their them then there these they this those to us was we were what what's when where
which who whom whose why will with would you you'd you'll you're you've your yours
"""
COMMON = frozenset(_COMMON_WORDS.split())

_IRREGULAR_FORMS = """
begin began begun; break broke broken; bring brought; build built; buy bought; catch caught; choose chose chosen;
come came; draw drew drawn; drink drank drunk; drive drove driven; eat ate eaten; fall fell fallen; feel felt;
fight fought; find found; fly flew flown; forget forgot forgotten; freeze froze frozen; get got gotten; give gave given;
go went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept; know knew known; lead led;
leave left; lend lent; lose lost; make made; mean meant; meet met; pay paid; ride rode ridden; ring rang rung;
rise rose risen; run ran; say said; see saw seen; sell sold; send sent; shake shook shaken; show shown; sing sang sung;
sit sat; sleep slept; speak spoke spoken; spend spent; stand stood; steal stole stolen; swim swam swum;
take took taken; teach taught; tell told; think thought; throw threw thrown; understand understood; wake woke woken;
wear wore worn; win won; write wrote written; child children kid; man men; woman women; person people; foot feet;
tooth teeth; life lives; wife wives; mother mom mum mama mommy; father dad papa daddy; bicycle bike; film movie;
photo picture pic photograph; grandmother grandma granny; grandfather grandpa
"""
_ROOTS = {form: forms.split()[0] for forms in _IRREGULAR_FORMS.split(";") for form in forms.split()}

_INFLECTIONS = ("ingly", "edly", "ing", "ed", "ly")
_ENDINGS = (
    ("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("iveness", "ive"), ("ousness", "ous"),
    ("ations", ""), ("ation", ""), ("ments", ""), ("ment", ""), ("ness", ""), ("ities", ""), ("ity", ""),
    ("ions", ""), ("ion", ""), ("ive", ""), ("ful", ""), ("ance", ""), ("ence", ""), ("able", ""),
    ("ible", ""), ("al", ""), ("er", ""), ("or", ""), ("est", ""), ("e", ""), ("y", "i"),
)  # fmt: skip
_LONGEST = 40  # characters of a word that are looked at


def words(text: str) -> list[str]:
    return [word.replace("’", "'") for word in _WORD.findall(text.lower())]


def terms(text: str) -> list[str]:
    """The stems of the words that mean something, in order."""
    return [stem(word) for word in words(text) if word not in COMMON]


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """What the forms of a lower-case word have in common."""
    word = word.removesuffix("'s").replace("'", "")[:_LONGEST]
    word = _ROOTS.get(word, word)
    if len(word) <= 3 or not word.isascii():
        return word
    for ending, instead in (("sses", "ss"), ("ies", "y"), ("ied", "y")):
        if word.endswith(ending):
            word = word[: -len(ending)] + instead
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    word = _without_inflection(_ROOTS.get(word, word))
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)] + instead
    return word


def _without_inflection(word: str) -> str:
    for ending in _INFLECTIONS:
        bare = word.removesuffix(ending)
        if bare != word and len(bare) >= 3 and any(vowel in bare for vowel in "aeiouy"):
            doubled = len(bare) > 3 and bare[-1] == bare[-2] and bare[-1] not in "lsz"
            return bare[:-1] if doubled else bare
    return word
