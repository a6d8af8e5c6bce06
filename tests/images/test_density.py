import numpy as np

from spadework.core.gaussian import LEFT_OUT, SHARED
from spadework.images.density import fit_code_gaussians


def test_a_gaussian_of_few_photos_in_many_dimensions_tells_others_apart():
    rng = np.random.default_rng(0)
    codes = rng.normal(size=(60, 100)).astype(np.float32)
    density = fit_code_gaussians(codes[:30], np.zeros(30, dtype=np.intp))
    unseen, far = density.score(codes[30:])[:, 0], density.score(codes + 5)[:, 0]
    assert far.min() > unseen.max()


def test_constant_codes_have_a_density():
    density = fit_code_gaussians(np.ones((5, 4), np.float32), np.zeros(5, np.intp))
    assert np.isfinite(density.score(np.zeros((1, 4), np.float32))).all()


def test_shared_rows_join_every_member_and_left_out_rows_none():
    codes = np.array([[0.0], [2.0], [10.0], [6.0], [1000.0]])
    groups = np.array([0, 0, 1, SHARED, LEFT_OUT])
    np.testing.assert_allclose(fit_code_gaussians(codes, groups).means[:, 0], [8 / 3, 8])
