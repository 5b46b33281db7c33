import pytest

from .kill9 import run


@pytest.mark.slow
def test_a_killed_process_leaves_all_files_old_or_all_new(tmp_path):
    tally = run(tmp_path, kills=200, files=5)

    assert tally.is_clean, str(tally)
    # The kills must have met transactions under way, or this showed nothing.
    assert tally.recovered["finished"] > 0, str(tally)
    assert tally.recovered["discarded"] > 10, str(tally)


@pytest.mark.long
def test_many_more_kills(tmp_path):
    tally = run(tmp_path, kills=2_000, files=5, seed=8)

    assert tally.is_clean, str(tally)
