"""Generated pages say what the code does now, and pages written by hand name only routes that exist."""

import re
import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "write_reference.py"
WRITER = runpy.run_path(str(SCRIPT))
REFERENCE: Path = WRITER["REFERENCE"]
ROUTE = re.compile(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`?\s]*)")


@pytest.mark.parametrize("name", sorted(WRITER["PAGES"]))
def test_the_page_is_up_to_date(name):
    assert (REFERENCE / name).read_text() == WRITER["PAGES"][name](), f"run {SCRIPT.name}"


# For browsers and for a protocol with a description of its own.
NOT_DESCRIBED = {("GET", "/openapi.json"), ("GET", "/login"), ("POST", "/login"), ("POST", "/mcp")}


def routes(page: Path) -> set[tuple[str, str]]:
    return set(ROUTE.findall(page.read_text()))


@pytest.mark.parametrize("page", ["reference/http.md", "gateway.md", "mcp.md", "users.md"])
def test_routes_in_the_pages_exist(page):
    described = routes(REFERENCE / "routes.md") | NOT_DESCRIBED

    assert routes(REFERENCE.parent / page) - described == set()


def test_every_field_of_a_shape_is_in_the_page():
    from sill.web.schemas.common import PlanView

    section = (REFERENCE / "routes.md").read_text().split("### PlanView\n")[1].split("\n### ")[0]

    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == list(PlanView.model_fields)
