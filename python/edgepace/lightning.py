"""A callback of Lightning that runs a curriculum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from edgepace._arrays import imported
from edgepace.curriculum import Curriculum
from edgepace.errors import MissingPackageError

try:
    _lightning = imported("lightning.pytorch", "edgepace.lightning")
except MissingPackageError:
    _lightning = imported("pytorch_lightning", "edgepace.lightning")

__all__ = ["CurriculumCallback"]


class CurriculumCallback(_lightning.Callback):
    """Before each epoch, shows the curriculum what the model makes of the nodes. Train with `callback.curriculum.edge_weight`.

    Args:
        curriculum: The curriculum.
        feedback: Called with the module, in evaluation mode and without gradients, when an update is due. Returns the arguments of
            :meth:`edgepace.Curriculum.step` as a dict, as ``{"logits": …, "node_loss": …, "train_mask": …}``.
    """

    def __init__(self, curriculum: Curriculum, feedback: Callable[[Any], dict[str, Any]]) -> None:
        super().__init__()
        self.curriculum, self.feedback = curriculum, feedback

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        import torch

        given: dict[str, Any] = {}
        if self.curriculum.due:
            was_training = pl_module.training
            pl_module.eval()
            try:
                with torch.no_grad():
                    given = self.feedback(pl_module)
            finally:
                pl_module.train(was_training)
        self.curriculum.step(**given)

    def state_dict(self) -> dict[str, Any]:
        return self.curriculum.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.curriculum.load_state_dict(state_dict)
