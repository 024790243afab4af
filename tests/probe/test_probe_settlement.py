"""When noise is believed: usage and status twice, the engine's record at once."""

import pytest

from cctest.probe.judgement import Judgement, failed, inconclusive, passed
from cctest.probe.settlement import Hope, conclude, settle
from cctest.verdict import Evidence, Result, Source

NOISY = Judgement(Result.FAIL, "reuse by usage", evidence=(Evidence(Source.USAGE, "1"),), repeatable=True)
CERTAIN = failed("reuse by the engine's record", "none", "some")
PASS = passed("no reuse")
NO_CONTROL = Judgement(Result.INCONCLUSIVE, "the control showed nothing", retry=True)
UNDECIDED = inconclusive("not served")


@pytest.mark.parametrize("first", [PASS, CERTAIN, UNDECIDED, Judgement(Result.UNSUPPORTED, "no")])
def test_what_noise_cannot_explain_needs_one_attempt(first: Judgement) -> None:
    assert settle([first]) is first


@pytest.mark.parametrize("first", [NOISY, NO_CONTROL])
def test_what_noise_could_explain_is_tried_again(first: Judgement) -> None:
    assert settle([first]) is None


def test_a_noisy_failure_that_repeats_is_a_failure() -> None:
    settled = settle([NOISY, NOISY])
    assert settled is not None
    assert settled.result is Result.FAIL
    assert "twice" in settled.message


def test_a_noisy_failure_counts_even_with_a_missed_control_in_between() -> None:
    settled = settle([NOISY, NO_CONTROL, NOISY])
    assert settled is not None
    assert settled.result is Result.FAIL


def test_a_noisy_failure_that_does_not_repeat_is_told_in_full() -> None:
    settled = settle([NOISY, PASS])
    assert settled is not None
    assert settled.result is Result.INCONCLUSIVE
    assert NOISY.message in settled.message
    assert PASS.message in settled.message
    assert NOISY.evidence[0] in settled.evidence


def test_a_certain_failure_outranks_everything() -> None:
    assert settle([NO_CONTROL, CERTAIN]) is CERTAIN
    assert settle([NOISY, CERTAIN]) is CERTAIN


def test_a_control_that_shows_up_later_decides() -> None:
    assert settle([NO_CONTROL, PASS]) is PASS


def test_a_control_that_never_shows_up_stays_inconclusive() -> None:
    assert conclude([NO_CONTROL] * 3) == NO_CONTROL


def test_a_single_noisy_failure_is_never_dropped_nor_believed() -> None:
    assert conclude([NOISY]).result is Result.INCONCLUSIVE
    assert conclude([NOISY, NO_CONTROL, NO_CONTROL]).result is Result.INCONCLUSIVE


def test_controls_are_tried_again_only_for_a_target_that_has_reused_something() -> None:
    hope = Hope()
    hope.note(reused=False)
    assert not hope.left
    hope.note(reused=True)
    hope.note(reused=False)
    assert hope.left


BUSY = Judgement(Result.FAIL, "HTTP 500", persistent=True)


def test_a_server_error_counts_only_if_every_attempt_shows_it() -> None:
    assert settle([BUSY]) is None
    assert settle([BUSY, BUSY]) is None
    settled = settle([BUSY, BUSY, BUSY])
    assert settled is not None
    assert settled.result is Result.FAIL
    assert settle([BUSY, PASS]) is PASS
    assert conclude([BUSY, BUSY]).result is Result.INCONCLUSIVE


def test_a_decision_outlives_later_attempts_that_another_check_of_the_cell_needed() -> None:
    assert settle([PASS, NO_CONTROL, NO_CONTROL]) is PASS
