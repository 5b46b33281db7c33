"""A vault in memory with the same rules for links and references as the one on disk, and an embedder of words."""

import hashlib
from collections.abc import Mapping, Sequence

from ..core.chunks import passages
from ..core.frontmatter import properties
from ..core.graph import LinkReport, NoteLinks, edges_of, report
from ..core.messages import fingerprint
from ..core.outline import outline
from ..core.query import parse_query, terms
from ..core.rank import Hit, one_per
from ..core.references import Reference, deduplicated, link_reference, typed_links
from ..core.resolve import Files, key
from ..core.summaries import summarize
from ..ports import SearchMode


class MemoryVault:
    """``texts`` may be changed at any time; ``refresh`` says how many changed since the last one."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self.texts = dict(texts or {})
        self._seen: dict[str, str] = {}

    async def refresh(self) -> int:
        changed = {path for path, text in self.texts.items() if self._seen.get(path) != text}
        changed |= self._seen.keys() - self.texts.keys()
        self._seen = dict(self.texts)
        return len(changed)

    async def paths(self) -> list[str]:
        return sorted(self.texts)

    async def read(self, path: str) -> str | None:
        return self.texts.get(path)

    async def search(
        self, question: str, limit: int = 10, mode: SearchMode = "hybrid"
    ) -> list[Hit]:
        """Passages by how many of the question's words they hold; there is no meaning here."""
        query = parse_query(question)
        wanted = [*terms(query.words), *(phrase.lower() for phrase in query.phrases)]
        unwanted = [word.lower() for word in query.without]
        hits = []
        for path, text in sorted(self.texts.items()):
            for passage in passages(text, markdown=path.endswith(".md")):
                words = f"{path}\n{passage.text}".lower()
                score = sum(word in words for word in wanted)
                if score and not any(word in words for word in unwanted):
                    hits.append(
                        Hit(
                            path,
                            passage.lines,
                            passage.text,
                            passage.headings,
                            fingerprint(text),
                            score,
                        )
                    )
        ranked = sorted(hits, key=lambda hit: -hit.score)[:limit]
        return [
            Hit(
                hit.path,
                hit.lines,
                hit.text,
                hit.headings,
                hit.fingerprint,
                hit.score,
                {"text": place},
            )
            for place, hit in enumerate(ranked, 1)
        ]

    async def references(self, message: str) -> tuple[Reference, ...]:
        outlines = {path: outline(text) for path, text in self.texts.items()}
        aliases = {
            key(alias): path
            for path in sorted(self.texts, key=len, reverse=True)
            for alias in properties(self.texts[path]).aliases
        }
        return deduplicated(
            link_reference(link, meaning, self.texts)
            for link, meaning in typed_links(message, self._files(), outlines, aliases)
        )

    async def links(self, path: str) -> NoteLinks:
        files = self._files()
        edges = [
            edge
            for source, text in sorted(self.texts.items())
            for edge in edges_of(source, text, files)
        ]
        return NoteLinks(
            tuple(edge for edge in edges if edge.source == path),
            tuple(edge for edge in edges if edge.target == path and edge.source != path),
        )

    async def check_links(self) -> LinkReport:
        files = self._files()
        edges = [
            edge
            for source, text in sorted(self.texts.items())
            for edge in edges_of(source, text, files)
        ]
        return report(edges, files, {path: outline(text) for path, text in self.texts.items()})

    async def related(self, path: str, limit: int = 10) -> list[Hit]:
        links = await self.links(path)
        near = [edge.target for edge in links.forward] + [edge.source for edge in links.backward]
        hits = [
            Hit(other, (1, 1), "", places={"links": 1})
            for other in near
            if other is not None and other != path
        ]
        return one_per(hits, lambda hit: hit.path)[:limit]

    async def summary(self, path: str) -> str:
        return summarize(self.texts.get(path, "")).text

    async def close(self) -> None:
        return None

    def _files(self) -> Files:
        return Files(sorted(self.texts))


class BagEmbedder:
    """Each word has a fixed direction, a text is the sum of its words: close means sharing words.

    ``texts`` counts what was asked for, so that a test can see what was embedded again.
    """

    def __init__(self, name: str = "bag-of-words", dimensions: int = 64) -> None:
        self.name = name
        self.texts = 0
        self._dimensions = dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.texts += len(texts)
        return [self._vector(text) for text in texts]

    async def close(self) -> None:
        return None

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self._dimensions
        vector[0] = 0.01  # no text is nothing
        for word in text.lower().split():
            digest = hashlib.blake2b(word.encode(errors="replace"), digest_size=4).digest()
            vector[int.from_bytes(digest, "big") % self._dimensions] += 1.0
        return vector
