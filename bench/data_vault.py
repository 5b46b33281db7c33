"""A made-up vault with questions whose answers are known: the same for the same seed.

Notes are about invented ships, workshops, people, gardens and instruments of invented towns. They link
to each other the way notes do: by name, by alias, with headings, in lists. One-hop questions ask for a
fact of a note in other words than the note's; two-hop questions name a note that only links to the one
with the answer; unanswerable ones ask for what nobody wrote down.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Place:
    path: str
    lines: tuple[int, int]


@dataclass(frozen=True)
class Question:
    kind: Literal["one-hop", "two-hop", "unanswerable"]
    text: str
    answer: str
    places: tuple[Place, ...]  # what must be read, the answer last
    about: str = ""  # the note that does not say it


@dataclass(frozen=True)
class Fact:
    """How a note states it, and how somebody asks for it without the same words."""

    section: str
    stated: str
    asked: str


ONSETS = [
    "b",
    "br",
    "d",
    "dr",
    "f",
    "g",
    "gr",
    "h",
    "k",
    "kl",
    "l",
    "m",
    "n",
    "p",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
    "w",
]
VOWELS = ["a", "e", "i", "o", "u", "au", "ei", "ia", "oe"]
CODAS = ["", "l", "n", "r", "s", "k", "m", "nd", "rt", "lv", "sk"]

KINDS: dict[str, list[Fact]] = {
    "Ship": [
        Fact("Building", "The keel of {name} was laid in {year}.", "When did the construction of {name} begin?"),
        Fact("Building", "{name} is painted {colour} above the waterline.", "What does the hull of {name} look like?"),
        Fact("Service", "{name} carries at most {number} passengers.", "How many people can travel on {name}?"),
        Fact("Service", "Her home port is the harbour of {town}.", "Where does {name} lie when she is not at sea?"),
    ],
    "Workshop": [
        Fact("History", "{name} was founded in {year} by two brothers.", "How old is the business called {name}?"),
        Fact("People", "The foreman of {name} is {person}.", "Who is in charge at {name}?"),
        Fact("Tools", "{name} owns a lathe of {number} kilograms.", "What does the turning machine of {name} weigh?"),
        Fact("History", "{name} moved into the old {building} of {town}.", "In what kind of place is {name} today?"),
    ],
    "Person": [
        Fact("Life", "{name} was born in {town}.", "What is the birthplace of {name}?"),
        Fact("Life", "{name} earns a living as a {job}.", "What does {name} do for work?"),
        Fact("Habits", "For breakfast {name} only takes {food}.", "What does {name} eat in the morning?"),
        Fact("Habits", "{name} is afraid of {animal}.", "Which creatures frighten {name}?"),
    ],
    "Garden": [
        Fact("Layout", "{name} covers {number} square metres.", "How large is {name}?"),
        Fact("Plants", "The oldest tree in {name} is a {tree}.", "Which plant has stood longest in {name}?"),
        Fact("Layout", "Visitors enter {name} through the {colour} gate.", "What is the entrance of {name} like?"),
        Fact("Plants", "The beds of {name} are watered from the {building}.", "Where does {name} get its water?"),
    ],
    "Instrument": [
        Fact("Making", "The body of {name} is made of {tree} wood.", "Out of which material was {name} built?"),
        Fact("Making", "{name} left the maker's bench in {year}.", "How long has {name} existed?"),
        Fact("Value", "{name} was last sold for {number} crowns.", "What price did {name} fetch?"),
        Fact("Value", "The lid of {name} shows a painted {animal}.", "What picture decorates {name}?"),
    ],
}  # fmt: skip

# How one kind leads to another: the words in the note, and the words of a question that does not name it.
BRIDGES: dict[str, list[tuple[str, str, str]]] = {
    "Ship": [
        ("Person", "Her captain these days is {link}.", "the captain of {name}"),
        ("Workshop", "The last overhaul was done by {link}.", "the firm that repaired {name}"),
    ],
    "Workshop": [
        ("Instrument", "Its most famous piece is {link}.", "the best-known work of {name}"),
        ("Person", "The books are kept by {link}.", "the bookkeeper of {name}"),
    ],
    "Person": [
        (
            "Garden",
            "On Sundays you find them in {link}.",
            "the place where {name} spends every Sunday",
        ),
        ("Instrument", "An uncle left them {link}.", "the thing {name} inherited"),
    ],
    "Garden": [
        ("Person", "The plans were drawn by {link}.", "the designer of {name}"),
        ("Ship", "The palms came over on {link}.", "the vessel that brought the palms of {name}"),
    ],
    "Instrument": [
        ("Person", "It is played by {link} now.", "the musician who has {name}"),
        ("Ship", "It survived a voyage on {link}.", "the boat that once carried {name}"),
    ],
}

COLOURS = ["crimson", "turquoise", "ochre", "violet", "ivory", "emerald", "amber", "slate-grey"]
JOBS = ["clockmaker", "midwife", "surveyor", "baker", "diver", "notary", "beekeeper", "glazier"]
FOODS = [
    "barley porridge",
    "pickled herring",
    "dark bread",
    "stewed plums",
    "goat cheese",
    "cold soup",
]
ANIMALS = ["herons", "wasps", "horses", "eels", "owls", "geese", "moths", "toads"]
TREES = ["walnut", "yew", "pear", "linden", "cedar", "mulberry", "chestnut", "maple"]
BUILDINGS = [
    "brewery",
    "chapel",
    "tannery",
    "cistern",
    "lighthouse",
    "mill",
    "schoolhouse",
    "granary",
]

SUBJECTS = ["the committee", "a neighbour", "the archive", "our records", "the local paper", "an old letter",
            "the census", "a visiting scholar", "the parish", "the museum", "the innkeeper", "the ledger"]  # fmt: skip
VERBS = ["mentions", "disputes", "repeats", "confirms", "leaves out", "describes", "questions", "illustrates",
         "compares", "catalogues", "remembers", "sketches"]  # fmt: skip
OBJECTS = ["the weather of that spring", "a quarrel over the boundary", "the price of timber", "an unpaid invoice",
           "the colour of the shutters", "two earlier drawings", "the arrival of the railway", "a lost photograph",
           "the feast in autumn", "the repairs to the roof", "a misspelt name", "the sound of the bells",
           "an inventory of tools", "the depth of the well", "a recipe for varnish", "the procession"]  # fmt: skip
ENDINGS = ["without giving a date", "in a footnote", "more than once", "in passing", "at great length",
           "although nobody asked", "with some doubt", "on the last page", "next to a map", "in pencil"]  # fmt: skip


def generate(folder: Path, notes: int = 400, questions: int = 60, seed: int = 1) -> list[Question]:
    """Write the vault and return its questions: as many of each kind."""
    made = Made(random.Random(seed), notes)
    for path, text in made.files():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return made.questions(questions)


class Made:
    def __init__(self, chance: random.Random, notes: int, filler: int = 3) -> None:
        self.chance = chance
        self.filler = filler
        kinds = list(KINDS)
        self.names: list[str] = []
        self.kind: dict[str, str] = {}
        taken: set[str] = set()
        while len(self.names) < notes:
            name = " ".join(self._word(2) for _ in range(2))
            if name not in taken:
                taken.add(name)
                self.names.append(name)
                self.kind[name] = kinds[len(self.names) % len(kinds)]
        self.of_kind = {kind: [n for n in self.names if self.kind[n] == kind] for kind in kinds}
        self.values: dict[str, dict[str, str]] = {}
        self.left_out: dict[str, int] = {}
        self.bridges: dict[str, list[tuple[str, str, str]]] = {}
        self.lines: dict[tuple[str, str], int] = {}

    def path(self, name: str) -> str:
        return f"{self.kind[name]}s/{name[0]}/{name}.md"

    def files(self) -> Iterator[tuple[str, str]]:
        for name in self.names:
            yield self.path(name), self._note(name)

    def questions(self, count: int) -> list[Question]:
        names = list(self.names)
        self.chance.shuffle(names)
        one = [self._one_hop(name) for name in names[:count]]
        two = [q for name in names[count:] if (q := self._two_hop(name))][:count]
        none = [self._unanswerable(name) for name in names[-count:]]
        return one + two + none

    def _note(self, name: str) -> str:
        kind, chance = self.kind[name], self.chance
        self.values[name] = values = {
            "name": name, "year": str(chance.randint(1780, 1990)), "number": str(chance.randint(12, 990)),
            "colour": chance.choice(COLOURS), "town": self._word(3), "person": f"{self._word(2)} {self._word(2)}",
            "job": chance.choice(JOBS), "food": chance.choice(FOODS), "animal": chance.choice(ANIMALS),
            "tree": chance.choice(TREES), "building": chance.choice(BUILDINGS),
        }  # fmt: skip
        facts = KINDS[kind]
        self.left_out[name] = left_out = chance.randrange(len(facts))
        sections: dict[str, list[str]] = {}
        for number, fact in enumerate(facts):
            if number != left_out:
                sections.setdefault(fact.section, []).append(fact.stated.format(**values))
        self.bridges[name] = []
        for target_kind, stated, asked in BRIDGES[kind]:
            target = chance.choice(self.of_kind[target_kind])
            if target != name:
                sentence = stated.format(link=self._link(target))
                sections.setdefault("Connections", []).append(sentence)
                self.bridges[name].append((target, sentence, asked.format(name=name)))
        rows = ["---", f"tags: [{kind.lower()}, made-up]"]
        if chance.random() < 0.3:
            rows.append(f'aliases: ["{name.split()[0]} of {values["town"]}"]')
        rows += ["---", f"# {name}", "", self._prose(2), ""]
        for section, sentences in sections.items():
            rows += [f"## {section}", ""]
            for sentence in sentences:
                rows += [self._prose(self.filler), sentence, self._prose(self.filler), ""]
        rows += [
            "## See also",
            "",
            *(f"- {self._link(chance.choice(self.names))}" for _ in range(chance.randint(2, 9))),
        ]
        for number, row in enumerate(rows, 1):
            self.lines[name, row] = number
        return "\n".join(rows) + "\n"

    def _link(self, name: str) -> str:
        style = self.chance.random()
        if style < 0.6:
            return f"[[{name}]]"
        if style < 0.75:
            return f"[[{name}|{name.split()[0]}]]"
        if style < 0.85:
            return f"[[{self.path(name)[:-3]}|{name}]]"
        if style < 0.95:
            return f"[[{name.lower()}]]"
        return f"[{name}]({self.path(name).replace(' ', '%20')})"

    def _one_hop(self, name: str) -> Question:
        number = self.chance.choice([n for n in range(4) if n != self.left_out[name]])
        fact = KINDS[self.kind[name]][number]
        sentence = fact.stated.format(**self.values[name])
        return Question(
            "one-hop",
            fact.asked.format(**self.values[name]),
            sentence,
            (self._place(name, sentence),),
        )

    def _two_hop(self, name: str) -> Question | None:
        target, bridge, asked = self.chance.choice(self.bridges[name] or [("", "", "")])
        if not target:
            return None
        number = self.chance.choice([n for n in range(4) if n != self.left_out[target]])
        fact = KINDS[self.kind[target]][number]
        sentence = fact.stated.format(**self.values[target])
        text = fact.asked.format(**{**self.values[target], "name": asked})
        return Question(
            "two-hop", text, sentence, (self._place(name, bridge), self._place(target, sentence))
        )

    def _unanswerable(self, name: str) -> Question:
        fact = KINDS[self.kind[name]][self.left_out[name]]
        asked = fact.asked.format(**self.values[name])
        return Question("unanswerable", asked, "", (), about=self.path(name))

    def _place(self, name: str, sentence: str) -> Place:
        line = self.lines[name, sentence]
        return Place(self.path(name), (line, line))

    def _prose(self, sentences: int) -> str:
        choose = self.chance.choice
        parts = (
            f"{choose(SUBJECTS)} {choose(VERBS)} {choose(OBJECTS)} {choose(ENDINGS)}."
            for _ in range(sentences)
        )
        return " ".join(part[0].upper() + part[1:] for part in parts)

    def _word(self, syllables: int) -> str:
        choose = self.chance.choice
        word = "".join(
            choose(ONSETS) + choose(VOWELS) + (choose(CODAS) if n == syllables - 1 else "")
            for n in range(syllables)
        )
        return word.capitalize()
