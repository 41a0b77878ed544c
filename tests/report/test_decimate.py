import numpy as np
import pytest

from tierlab.report.decimate import keep


@pytest.mark.parametrize("at", [0, 1, 4_999, 5_000, 123_456, 199_999])
def test_a_spike_of_one_sample_survives(at):
    value = np.zeros(200_000)
    value[at] = 1.0
    kept = keep(value, 500)
    assert at in kept
    assert len(kept) <= 4 * 500


def test_every_stretch_keeps_its_lowest_and_highest():
    value = np.random.default_rng(5).normal(size=10_007)
    kept = keep(value, 100)
    bucket = np.arange(value.size) * 100 // value.size
    for stretch in range(100):
        mine, shown = value[bucket == stretch], value[kept[bucket[kept] == stretch]]
        assert (mine.min(), mine.max()) == (shown.min(), shown.max())
        assert (mine[0], mine[-1]) == (shown[0], shown[-1])


def test_the_order_stays_and_few_points_all_stay():
    value = np.random.default_rng(6).normal(size=5_000)
    assert (np.diff(keep(value, 50)) > 0).all()
    assert keep(value[:200], 50).tolist() == list(range(200))
    assert keep(value[:0], 50).tolist() == []


def test_what_has_no_value_is_never_a_peak_and_never_hides_one():
    value = np.full(4_000, np.nan)
    value[1_234] = 7.0
    assert 1_234 in keep(value, 20)
    assert np.isnan(value[keep(np.full(4_000, np.nan), 20)]).all()
