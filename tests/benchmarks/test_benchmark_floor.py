"""The driver's interface, on the one subject that needs nothing installed: killed and resumed."""

from __future__ import annotations

from benchmarks.workloads import durable_tasks

from benchmarks import environments


def test_every_subject_has_a_driver() -> None:
    for subject in environments.catalogue():
        assert (environments.HERE / "subjects" / f"{subject.name}.py").exists()


def test_the_floor_is_measured_and_survives_a_kill() -> None:
    found = durable_tasks.run(quick=True, only=["sqlite_floor"])
    assert found.failures == []
    values = {one.metric: one.value for one in found.measurements}
    assert values["chain_rate"] > 0 and values["rss_peak_mb"] > 1
    assert values["lost"] == 0 and values["repeated_acknowledged"] == 0
    assert values["repeated_in_flight"] > 0, "the kill must find a task that has run, unrecorded"
