"""The three terms of eq. 5, one function each."""

from torch import Tensor
from torch.nn import functional


def labeled_loss(logit: Tensor, label: Tensor) -> Tensor:
    """L_{Y^l}: mean binary cross-entropy on labeled rows; 0 without any.

    **Shape**: both ``(n_labeled,)``; labels 1 and 0.
    """
    if not len(logit):
        return logit.sum()
    return functional.binary_cross_entropy_with_logits(logit, label)


def pseudo_loss(logit: Tensor, pseudo_label: Tensor) -> Tensor:
    """L_{Y^u}: cross-entropy on pseudo-labels, averaged over all unlabeled rows.

    Rows without a pseudo-label (-1) weigh nothing but still count in the mean, so
    the fewer rows the pseudo-labeler is sure of, the less this term says.

    **Shape**: both ``(n_unlabeled,)``; pseudo-labels 1, 0 and -1.
    """
    known = (pseudo_label >= 0).to(logit.dtype)
    losses = functional.binary_cross_entropy_with_logits(
        logit, pseudo_label.clamp(min=0), reduction="none"
    )
    return (losses * known).sum() / max(len(logit), 1)


def reconstruction_loss(x: Tensor, reconstruction: Tensor) -> Tensor:
    """L_R: mean squared error of the self-supervised head.

    **Shape**: both ``(n_rows, n_features)``.
    """
    return functional.mse_loss(reconstruction, x)
