"""A document of the workspace as the engine sees it: a name, a text, a state."""

from dataclasses import dataclass

from .messages import FileStamp, fingerprint

_LANGUAGES = {
    "bash": "bash", "c": "c", "cc": "cpp", "cfg": "ini", "clj": "clojure", "cpp": "cpp", "cs": "csharp",
    "css": "css", "csv": "csv", "dart": "dart", "erl": "erlang", "ex": "elixir", "exs": "elixir",
    "go": "go", "h": "c", "hpp": "cpp", "hs": "haskell", "htm": "html", "html": "html", "ini": "ini",
    "java": "java", "jl": "julia", "js": "javascript", "json": "json", "jsx": "javascript", "kt": "kotlin",
    "lua": "lua", "markdown": "markdown", "md": "markdown", "ml": "ocaml", "org": "org", "php": "php",
    "pl": "perl", "ps1": "powershell", "py": "python", "pyi": "python", "r": "r", "rb": "ruby",
    "rs": "rust", "rst": "rst", "scala": "scala", "scss": "scss", "sh": "bash", "sql": "sql",
    "svelte": "svelte", "swift": "swift", "tex": "latex", "toml": "toml", "ts": "typescript",
    "tsx": "typescript", "txt": "text", "vue": "vue", "xml": "xml", "yaml": "yaml", "yml": "yaml",
    "zig": "zig", "zsh": "bash",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Document:
    """``path`` is relative to the workspace, with forward slashes."""

    path: str
    text: str

    @property
    def stamp(self) -> FileStamp:
        return FileStamp(self.path, fingerprint(self.text))

    @property
    def language(self) -> str:
        return language_of(self.path)


def language_of(path: str) -> str:
    """What the file is written in, by its name; ``text`` if the name does not say."""
    name = path.rsplit("/", 1)[-1].lower()
    if name in ("makefile", "dockerfile"):
        return name
    return _LANGUAGES.get(name.rsplit(".", 1)[-1], "text") if "." in name else "text"
