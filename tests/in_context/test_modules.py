"""A row's logit depends on the context and on itself alone."""

import torch

from spadework.in_context.encoding import N_CELL_FEATURES
from spadework.in_context.modules import InContextModel
from tiny_context import CONFIG, tiny_model

N_COLUMNS = 5


def drawn(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def context(n_tables=2, n_rows=30):
    cells = drawn(n_tables, n_rows, N_COLUMNS, N_CELL_FEATURES, seed=0)
    labels = (torch.arange(n_rows) % 3).expand(n_tables, -1)
    return cells, labels, drawn(n_tables, N_COLUMNS, CONFIG.n_identity, seed=1)


def rows(n_rows=20, n_tables=2):
    return drawn(n_tables, n_rows, N_COLUMNS, N_CELL_FEATURES, seed=2)


def test_rows_do_not_see_each_other():
    model = tiny_model()
    state = model.read(*context()).state
    together = model.score(rows(), state)
    alone = torch.cat([model.score(row, state) for row in rows().split(1, dim=1)], dim=1)
    torch.testing.assert_close(alone, together, rtol=1e-5, atol=1e-5)


def test_tables_of_a_batch_do_not_see_each_other():
    model = tiny_model()
    together = model.read(*context())
    for place in range(2):
        alone = model.read(*(part[place : place + 1] for part in context()))
        logits = model.score(rows()[place : place + 1], alone.state)
        expected = model.score(rows(), together.state)[place : place + 1]
        torch.testing.assert_close(logits, expected, rtol=1e-5, atol=1e-5)
        for one, both in ((alone.slope, together.slope), (alone.logits, together.logits)):
            torch.testing.assert_close(one, both[place : place + 1], rtol=1e-5, atol=1e-5)


def test_the_order_of_context_rows_does_not_matter():
    model, (cells, labels, identity) = tiny_model(), context()
    order = torch.randperm(cells.shape[1], generator=torch.Generator().manual_seed(3))
    read = model.read(cells, labels, identity)
    shuffled = model.read(cells[:, order], labels[:, order], identity)
    torch.testing.assert_close(
        model.score(rows(), shuffled.state),
        model.score(rows(), read.state),
        rtol=1e-4,
        atol=1e-4,
    )
    torch.testing.assert_close(
        shuffled.share_logits, read.share_logits, rtol=1e-4, atol=1e-4
    )


def test_columns_that_go_with_their_identities_may_stand_in_any_order():
    model, (cells, labels, identity) = tiny_model(), context()
    order = torch.tensor([3, 0, 4, 2, 1])
    read = model.read(cells, labels, identity)
    moved = model.read(cells[:, :, order], labels, identity[:, order])
    torch.testing.assert_close(
        model.score(rows()[:, :, order], moved.state),
        model.score(rows(), read.state),
        rtol=1e-4,
        atol=1e-4,
    )


def test_every_label_counts():
    model, (cells, labels, identity) = tiny_model(), context(n_tables=1)
    logits = model.score(rows(n_tables=1), model.read(cells, labels, identity).state)
    for place in range(3):
        other = labels.clone()
        other[0, place] = (other[0, place] + 1) % 3
        changed = model.read(cells, other, identity)
        assert not torch.allclose(
            model.score(rows(n_tables=1), changed.state), logits, atol=1e-6
        )


def test_log_odds_rise_with_logits_in_every_context():
    for seed in range(5):
        assert (tiny_model(seed).read(*context()).slope > 0).all()


def test_an_untrained_model_thinks_that_anomalies_are_rare():
    read = InContextModel(CONFIG).read(*context())
    assert (read.offset < -1).all()
