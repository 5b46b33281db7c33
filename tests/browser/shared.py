"""``sill serve --multi-user`` as an admin starts it: with a certificate, and with people who have passwords."""

import asyncio
import datetime
import ipaddress
import re
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sill.adapters.store import open_store
from sill.app.accounts import accounts_of, hash_password
from sill.core.access import Role
from sill.web.users import SLOWER

from .site import Site

PASSWORD = "correct horse battery"
READY = re.compile(r"on 127\.0\.0\.1:(\d+) as")


@dataclass(slots=True)
class SharedSite(Site):
    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def open_for(self, people: Mapping[str, Role]) -> "SharedSite":
        """Make their accounts, and serve."""
        write_certificate(self.place / "cert.pem", self.place / "key.pem")
        # In a thread of its own: a browser that is open has the event loop of this one.
        with ThreadPoolExecutor(1) as worker:
            worker.submit(asyncio.run, _add(str(self.place / "sill.db"), people)).result()
        self.start()
        return self

    def _command(self) -> list[str]:
        names = ["--multi-user", "--name", "127.0.0.1"]
        tls = ["--tls-cert", str(self.place / "cert.pem"), "--tls-key", str(self.place / "key.pem")]
        return [sys.executable, "-m", "sill", "serve", *names, *tls]

    def _is_up(self, said: str) -> bool:
        found = READY.search(said)
        if found is None:
            return False
        self.port = int(found[1])
        return True


def log_in(page: Any, site: SharedSite, name: str) -> None:
    """However many have just done so: only five may within a minute, in whichever order tests are run."""
    page.goto(site.url)
    inside, slower = page.locator("header h1"), page.get_by_text(SLOWER)
    while True:
        page.get_by_label("Name").fill(name)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        inside.or_(slower).first.wait_for()
        if inside.count():
            return
        page.wait_for_timeout(13_000)  # the next may try after twelve seconds
        page.goto(site.url)


async def _add(database: str, people: Mapping[str, Role]) -> None:
    store = await open_store(database)
    hashed = await hash_password(PASSWORD)
    for name, role in people.items():
        await accounts_of(store).add_user(name, role, hashed)
    await store.close()


def write_certificate(file: Path, key_file: Path) -> None:
    """A certificate for this machine that nobody else has signed."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    file.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
