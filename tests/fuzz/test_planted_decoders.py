"""Every night: a fault in a decoder is found in a minute, and a sound decoder is not accused."""

from __future__ import annotations

import pytest

from tests.fuzz.planted_decoders import TWENTY, fuzz
from tests.subjects.faulty.reading import Reader

pytestmark = [pytest.mark.nightly, pytest.mark.usefixtures("atheris")]


def test_a_sound_decoder_is_not_accused() -> None:
    assert fuzz(Reader).finding is None


@pytest.mark.parametrize("decoder", TWENTY)
def test_a_fault_in_a_decoder_is_found(decoder: type[Reader]) -> None:
    assert fuzz(decoder).finding is not None
