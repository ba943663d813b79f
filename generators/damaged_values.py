"""Binary logs with one damaged value and a sound event behind it, for programs that print them.

The damaged value is an object as in ``object_entries`` (in a diff or in a whole document), a VECTOR, or a user
variable. The VECTOR does not hold a whole number of its numbers; the variable is longer than its event. A released
mysqlbinlog ends itself at some of these (requirements FR5, deviation 4), so they have the hazard may-crash and no file
stores them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.cases.by_hand.damaged_log import log_of_image, log_of_variable, log_of_vector
from conformance.cases.bytes_case import MYSQLBINLOG, BytesCase, bytes_id
from conformance.cases.update_case import Hazard
from generators import object_entries

if TYPE_CHECKING:
    from generators.draw import Draw

VECTOR, VARIABLE = "vector", "variable"
PLACES: Final = (object_entries.DIFF, object_entries.FULL, VECTOR, VARIABLE)
_DIGITS: Final = 6  # most bytes that such a variable really has
_WIDTH: Final = 32  # bits of a length


def file_with_damage(draw: Draw, place: str, seed: str = "") -> BytesCase:
    """A file with damage in ``place``, which is one of :data:`PLACES`."""
    if place == VECTOR:
        size = 4 * draw.below(20) + draw.choice((1, 2, 3))
        name, data = f"{VECTOR}-of-{size}-bytes", log_of_vector(draw.bits(8 * size).to_bytes(size, "little"))
    elif place == VARIABLE:
        value = draw.bits(8 * _DIGITS).to_bytes(_DIGITS, "little")[: draw.below(_DIGITS + 1)]
        length = min(len(value) + 1 + draw.bits(1 + draw.below(_WIDTH)), (1 << _WIDTH) - 1)
        name, data = f"{VARIABLE}-of-{len(value)}-bytes-said-to-be-{length}", log_of_variable(value, length)
    else:
        item = object_entries.injection(draw, place, keys=draw.below(3) < 2)
        name, data = item.name, log_of_image(item.image)
    return BytesCase(
        id=bytes_id(MYSQLBINLOG, data),
        requirements=("P9",),
        seed=seed,
        hazard=Hazard.MAY_CRASH,
        subject=MYSQLBINLOG,
        name=name,
        data=data,
    )
