from spadework_research.reproduction.options import (
    ABLATIONS,
    READINGS,
    complete,
    name_of,
    one_factor,
    reduce,
)


def test_a_setting_survives_being_reduced_and_completed():
    changes = {"scaling": "asinh", "layers": [1, 1, 1], "alpha": 0.0}
    assert complete(reduce(changes)) == complete(changes)
    assert reduce(complete({})) == {}


def test_equal_settings_share_a_name():
    plain = {option: readings[0] for option, readings in READINGS.items()}
    assert name_of(plain) == name_of({})
    assert name_of({"scaling": "asinh"}) != name_of({})


def test_one_factor_changes_each_option_to_each_other_reading():
    settings = one_factor({"scaling": "asinh"})
    n_changes = sum(len(readings) - 1 for readings in READINGS.values())
    assert len({name_of(each) for each in settings}) == 1 + n_changes


def test_ablations_change_what_the_paper_states():
    for change in ABLATIONS.values():
        assert reduce(change)
