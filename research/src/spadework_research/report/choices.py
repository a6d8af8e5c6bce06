"""How the settings behind the benchmark were chosen, and what was looked at."""

from typing import NamedTuple


class Choice(NamedTuple):
    """What was chosen, and by what."""

    what: str
    how: str


CHOICES = (
    Choice(
        "“SPADE (ours)”",
        "Weights of the in-context model are those of the longest training: half A of "
        "sixty public tables does not tell them from earlier ones or from means of both "
        "(they differ by 0.004 there, with an error of 0.006), made tables that no "
        "training saw do. On half B they were looked at beside two others. "
        "On half A, some thirty forms of the predictor (targets, weights, trees, "
        "bins) and of what counts beside pseudo-labels were compared, and half B was "
        "looked at twice. That being unlike other rows counts where labeled anomalies "
        "are found without their labels came last: the AUC from which it counts was set"
        " on half A and on made tables, after made payments had shown that a new kind "
        "of fraud was missed, and with a look at 40,000 rows of Covertype (seed 0), "
        "which gained. Thyroid and Drug (seeds 0 and 1) were looked at before, and "
        "nothing was changed for them.",
    ),
    Choice(
        "“SPADE 0.1”",
        "The hand-set rules of the default before it were chosen among some six hundred "
        "and seventy candidates, eighty of them by test AUC on the tables below and on "
        "tables made from them. Its figures here are therefore flattering to an unknown "
        "degree, against the paper and against baselines.",
    ),
    Choice(
        "Baselines",
        "Steps and scaling of VIME, DANN, DevNet and Deep SAD, and the threshold of "
        "SRR, were chosen among two to six settings each on Thyroid and Drug, mostly "
        "by nearness to the paper; Weighted Elkanoto and BaggingPU have the settings "
        "of their library's own example, found by nearness to the paper among eight "
        "classifiers. The other baselines have fixed settings and were not searched. "
        "So baselines had less search than our methods.",
    ),
)
