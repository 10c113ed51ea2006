import inspect

import pytest

from emu import errors


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    document = errors.__doc__ or ""
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, Exception):
            assert f"`{name}`" in document, f"{name} is missing in the tree at the top"
            assert issubclass(kind, errors.EmuError)


def test_a_configuration_error_carries_every_problem() -> None:
    error = errors.ConfigError(["a: wrong", "b: wrong"])
    assert error.problems == ("a: wrong", "b: wrong")
    assert "\n" not in str(error)


def test_players_see_names_that_are_taken_but_not_where_the_database_is() -> None:
    assert errors.public_text(errors.CommandError("no")) == "no"
    assert errors.public_text(errors.DuplicateName("taken")) == "taken"
    assert errors.public_text(errors.StoreAway("/srv/emu.sqlite: away")) == errors.STORE_FAULT
    of_engine = errors.DuplicateName("/srv/emu.sqlite: taken")
    of_engine.__cause__ = ValueError("of the driver")
    assert errors.public_text(of_engine) == errors.STORE_FAULT


def test_a_file_error_begins_with_the_place() -> None:
    assert str(errors.FileFormatError("no end", place="line 3")) == "line 3: no end"
    assert errors.FileFormatError("no end").place is None


def test_a_refusal_of_the_system_is_reported_with_its_file() -> None:
    assert errors.unusable(FileNotFoundError(2, "No such file", "/a")) == (
        "/a: cannot be used (No such file)"
    )
    assert errors.unusable(PermissionError(13, "Permission denied", "/a")) == (
        "/a: cannot be used (Permission denied); run this as its owner"
    )
    assert errors.unusable(OSError("odd")) == "cannot be used (odd)"
    assert errors.unusable(OSError(28, "No space left on device")) == (
        "the output or an open file: cannot be used (No space left on device)"
    )


def test_an_unknown_version_names_the_ranges_around_it() -> None:
    error = errors.UnknownVersion(400, [(0, 374), (540, 546)])
    assert str(error) == (
        "no opcode range covers client version 400; the nearest ranges are 0-374 and 540-546"
    )
    assert str(errors.UnknownVersion(1)).endswith("version 1")


@pytest.mark.parametrize(
    "kind", [errors.MalformedDatagram, errors.BadChecksum, errors.MalformedMessage,
             errors.LimitExceeded],
)  # fmt: skip
def test_a_peers_fault_has_a_reason_to_count_by(kind: type[errors.PeerError]) -> None:
    error = kind("too long")
    assert error.reason == "too long"
    assert isinstance(error, errors.PeerError)
