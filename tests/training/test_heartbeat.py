"""The judgement of a heartbeat: which process is the culprit, by a clock that the test turns on."""

from types import SimpleNamespace

import pytest

from tumble.training import processes
from tumble.training.processes import DONE, PATIENCE, SILENCE, Heartbeat

HANGS, SILENT = "process 1 on there hangs: others have waited", "process 1 on there has given no sign of life for"


class Watched:
    """The heartbeat of process 0, and the last sign of life of process 1, which is on another machine."""

    def __init__(self, monkeypatch):
        self.now, self.waits_since, self.beat = 1000.0, None, [0, 0, False, SILENCE]
        monkeypatch.setattr(processes, "time", SimpleNamespace(monotonic=lambda: self.now))
        monkeypatch.setattr(processes, "BEAT", 3600.0)  # the thread does nothing
        store = SimpleNamespace(rank=0, size=2, set=lambda *_: None, of_group=lambda _: None)
        store.get_all = lambda _: [None, self.beat]
        group = SimpleNamespace(busy=False, progress=0, waited=self.waited)
        members = [{"host": "here", "pid": 1, "here": True}, {"host": "there", "pid": 1, "here": False}]
        self.heartbeat = Heartbeat(store, members, group)
        monkeypatch.setattr(processes, "BEAT", 2.0)

    def waited(self):
        """Seconds for which process 0 has waited in an exchange."""
        return 0.0 if self.waits_since is None else self.now - self.waits_since

    def after(self, seconds, beats=True, moves=False):
        """Let time go by with signs of life of process 1 every two seconds, or without; return the last judgement."""
        said = ""
        for _ in range(int(seconds / 2)):
            self.now += 2.0
            number, progress, *rest = self.beat
            self.beat = [number + beats, progress + moves, *rest]
            said = said or self.heartbeat._beat()
        return said


@pytest.fixture
def watched(monkeypatch):
    made = Watched(monkeypatch)
    assert not made.after(2)
    yield made
    made.heartbeat._stopping.set()


def test_a_process_that_makes_no_progress_while_another_waits_hangs(watched):
    watched.waits_since = watched.now
    assert not watched.after(SILENCE)
    assert watched.after(4).startswith(HANGS)


def test_slow_steps_are_no_fault(watched):
    """Both take long for a step; one that moves on is no culprit, however long others wait."""
    assert not watched.after(10 * SILENCE)
    watched.waits_since = watched.now
    assert not watched.after(SILENCE)
    assert not watched.after(2, moves=True) and not watched.after(SILENCE)
    assert not watched.after(10 * SILENCE, moves=True)


def test_a_process_is_busy_in_evaluations(watched):
    watched.beat[3], watched.waits_since = PATIENCE, watched.now
    assert not watched.after(PATIENCE)
    assert watched.after(4).startswith(HANGS)


def test_after_an_evaluation_the_patience_begins_again(watched):
    watched.beat[3], watched.waits_since = PATIENCE, watched.now
    assert not watched.after(PATIENCE - 10)
    watched.beat[1:] = [watched.beat[1] + 1, False, SILENCE]  # as `long_work` ends
    assert not watched.after(SILENCE)
    assert watched.after(4).startswith(HANGS)


def test_a_process_that_waits_itself_is_no_culprit(watched):
    """Unless an exchange does not end, as where a network drops what it carries."""
    watched.beat[2], watched.waits_since = True, watched.now
    assert not watched.after(2 * PATIENCE)
    assert "process 1 on there has waited" in watched.after(4)


def test_a_process_without_signs_of_life_is_a_culprit(watched):
    assert not watched.after(SILENCE, beats=False)
    assert watched.after(4, beats=False).startswith(SILENT)


def test_it_is_one_sooner_if_a_connection_is_lost(watched):
    watched.heartbeat._is_cut_off = True
    assert not watched.after(10, beats=False)
    assert watched.after(4, beats=False).startswith(SILENT)


def test_after_a_pause_of_all_processes_each_has_time_to_go_on(watched):
    """Clocks go on while a cluster suspends a job."""
    watched.waits_since = watched.now
    watched.now += 3600.0
    assert not watched.after(SILENCE, beats=False)
    assert watched.after(4, beats=False)


def test_a_process_that_is_done_is_no_culprit(watched):
    watched.beat = DONE
    watched.now += 3600.0
    assert not watched.heartbeat._beat()


def test_long_work_counts_as_progress():
    group = processes.ProcessGroup()
    group.busy = False
    with group.long_work():
        assert group.busy and group.progress == 0
    assert not group.busy and group.progress == 1
