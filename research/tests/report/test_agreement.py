"""Agreement is counted over the baselines of the paper."""

import pytest

from made_results import done
from spadework_research.report.agreement import compare_baselines
from spadework_research.report.cells import Runs


def test_agreement_counts_the_baselines_and_not_spade_or_ablations():
    results = [
        done("new_types", "thyroid", "supervised", auc=0.80),  # 0.815, 0.996, 0.741
        done("new_types", "thyroid", "spade", auc=0.1),
        done("new_types", "thyroid", "tuned_forest", auc=0.1),
        done("ablation", "drug-easiness", "spade_paper_no_ensemble", auc=0.1),
    ]
    agreement = compare_baselines(Runs(results), {"supervised": "because"})
    assert [cell.within for cell in agreement.cells] == [True, False, True]
    (outside,) = agreement.outside
    assert (outside.paper, outside.std, outside.ours) == (0.996, 0.003, 0.8)
    assert outside.difference == pytest.approx(-0.196)
    assert outside.explanation == "because"
    assert agreement.n_within == 2
    assert agreement.n_published > 200
