"""What ``make run`` starts: a real answer by the bundled model, without a key or a question."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_a_piped_question_is_answered_and_that_is_all(home, smol_weights):
    done = subprocess.run(
        [sys.executable, "-m", "sill.cli.first_run"],
        input="Name three colours.\n",
        env={
            **home.environment,
            # The weights are where set-up put them; everything else is a new home.
            "SILL_LOCAL_MODEL": str(smol_weights),
            "LLM_CHAT_TEMPERATURE": "0",
            "OPENAI_API_KEY": "",
        },
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert len(done.stdout.split()) > 3
    assert [c for c in done.stdout + done.stderr if ord(c) < 32 and c != "\n"] == []
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
    assert list(home.folder.iterdir()) == [], "nothing is written into the folder"
