"""Help laid out like a page of the manual: name, synopsis, description, options."""

from collections.abc import Iterator
from contextlib import contextmanager

import click

WIDEST = 100


class ManualFormatter(click.HelpFormatter):
    """Headings in capitals at the margin, everything else indented."""

    title = ""  # what the command does, in one sentence

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        self.write_heading("Name")
        with self.indentation():
            self.write_text(f"{prog} - {self.title}" if self.title else prog)
        self.write("\n")
        self.write_heading("Synopsis")
        with self.indentation():
            self.write_text(f"{prog} {args}".rstrip())
        self.write("\n")
        self.write_heading("Description")

    def write_heading(self, heading: str) -> None:
        self.write(f"{heading.upper()}\n")

    def write_paragraph(self) -> None:
        # The description follows its heading without a blank line.
        if self.buffer and self.buffer[-1] != "DESCRIPTION\n":
            self.write("\n")

    @contextmanager
    def section(self, name: str) -> Iterator[None]:
        self.write_paragraph()
        self.write_heading(name)
        with self.indentation():
            yield


class ManualContext(click.Context):
    def make_formatter(self) -> click.HelpFormatter:
        made = ManualFormatter(width=self.terminal_width, max_width=self.max_content_width)
        made.indent_increment = 4
        made.title = self.command.get_short_help_str(WIDEST)
        return made


def with_manual(command: click.Command) -> click.Command:
    """The command, explaining itself (and its subcommands) as a page of the manual."""
    command.context_class = ManualContext
    if isinstance(command, click.Group):
        for each in command.commands.values():
            with_manual(each)
    return command
