"""Commands about the program itself."""

from .session import Given, Session
from .table import Command


async def doctor(session: Session, given: Given) -> None:
    from ..doctor import examine, show

    show(await examine(session.desk.given))


COMMANDS = (Command("doctor", "", "check endpoint, window, counting, storage; what to do", doctor),)
