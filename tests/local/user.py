"""A program that uses the local model: says which server it got, then stays until its input ends."""

import json
import sys
from pathlib import Path

from sill.adapters.local.supervise import open_local


def main() -> None:
    weights, linger = Path(sys.argv[1]), float(sys.argv[2])
    with open_local(weights, window=512, linger=linger) as server:
        print(json.dumps([server.address.pid, server.base_url]), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
