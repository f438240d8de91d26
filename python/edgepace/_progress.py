"""How far something long is: a bar of tqdm where there is a terminal or a notebook to show it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

Progress = Callable[[int, int], Any]


def _visible() -> bool:
    return "ipykernel" in sys.modules or sys.stderr is not None and sys.stderr.isatty()


@contextlib.contextmanager
def progress(wanted: bool | Progress | None, what: str) -> Iterator[Progress | None]:
    """What to call with how much is done and how much there is to do.

    `wanted` is such a function, whether to show a bar, or None: a bar where somebody would see it and tqdm is installed.
    """
    if callable(wanted):
        yield wanted
        return
    if wanted is None:
        wanted = _visible()
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    with tqdm(desc=what, leave=False, unit="epoch") as bar:

        def tell(done: int, total: int) -> None:
            bar.total = total
            bar.n = done
            bar.refresh()

        yield tell
