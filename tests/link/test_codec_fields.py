import struct

import pytest

from emu.errors import StructValueError
from emu.link.messages import LSStatus


def test_a_message_s_fields_are_its_layout_in_the_order_they_are_stated() -> None:
    assert LSStatus.LAYOUT.size == 13
    assert LSStatus(-2, 5, zones=3, max_level=90).encode() == struct.pack("<iiiB", -2, 5, 3, 90)
    assert LSStatus.decode(struct.pack("<iiiB", 1, 2, 3, 4)) == LSStatus(1, 2, 3, 4)
    with pytest.raises(StructValueError, match=r"^LSStatus: "):
        LSStatus(2**31).encode()
