"""Something that a topology does beside the steps of an episode."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conformance.explore.steps import Step
    from conformance.explore.world import World


class Companion:
    """Does nothing; a topology overrides what it needs. ``happened`` is for the census."""

    def __init__(self) -> None:
        self.happened: Counter[str] = Counter()

    def began(self, world: World) -> None:
        """The schemas of a new episode are there."""

    def before(self, world: World, step: Step) -> None:
        """A step is about to run."""

    def after(self, world: World, step: Step) -> None:
        """A step has run on both sides."""

    def settle(self, world: World) -> None:
        """The oracles are about to look: end what is open."""

    def ended(self, world: World) -> None:
        """The sessions of the episode are closed, and its schemas are about to be dropped."""
