"""What routes ask for: the service, and the desk of whoever is asking."""

from typing import Annotated

from fastapi import Depends, Request

from ..app.service import Desk, Service
from .answers import Rejected
from .identity import Identity, Role, who

# Dependencies are coroutines, though they wait for nothing: a plain function would be sent to a thread.


async def _who(request: Request) -> Identity:
    return who(request)


async def service_of(request: Request) -> Service:
    service = request.app.state.service
    assert isinstance(service, Service)
    return service


async def desk_of(request: Request) -> Desk:
    """Everything of the owner who asks, and of nobody else."""
    return (await service_of(request)).desk(who(request).owner)


Who = Annotated[Identity, Depends(_who)]
TheService = Annotated[Service, Depends(service_of)]
TheDesk = Annotated[Desk, Depends(desk_of)]


class Needs:
    """A dependency: the role that a route asks for."""

    def __init__(self, role: Role) -> None:
        self.role = role

    async def __call__(self, request: Request) -> None:
        if not who(request).may(self.role):
            raise Rejected(403, "forbidden", f"this needs the role {self.role}")


contributor = Depends(Needs("contributor"))
admin = Depends(Needs("admin"))
