import pytest

from .editor import SAVERS, run


@pytest.mark.slow
@pytest.mark.parametrize("style", list(SAVERS))
def test_no_save_of_an_editor_is_lost(style, tmp_path):
    tally = run(tmp_path, style, seconds=3)

    assert tally.lost == 0, str(tally)
    # Both ends must have been met, or they never raced.
    assert tally.applied, str(tally)
    assert tally.conflicts, str(tally)


@pytest.mark.long
@pytest.mark.parametrize("style", list(SAVERS))
def test_no_save_is_lost_in_a_long_race(style, tmp_path):
    tally = run(tmp_path, style, seconds=30)

    assert tally.lost == 0, str(tally)
