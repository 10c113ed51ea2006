from __future__ import annotations

from contextlib import ExitStack

import pytest

from emu.admin.web.sessions import RequestRefused, SignInRules, SignIns
from emu.limits.rates import FailureRules
from emu.times import Monotonic

NOW = Monotonic(100.0)


def refused(sign_ins: SignIns, address: str, now: float = NOW) -> RequestRefused:
    with pytest.raises(RequestRefused) as caught, sign_ins.trying(address, Monotonic(now)):
        pass
    return caught.value


def test_each_wrong_one_of_an_address_takes_longer_until_it_stays_out() -> None:
    sign_ins = SignIns(SignInRules(FailureRules(banned_after=4, banned_for=60), longest_delay=3))
    delays = [sign_ins.failed("192.0.2.1", f"name{n}", NOW) for n in range(4)]
    assert delays == [1, 2, 3, 3]
    refusal = refused(sign_ins, "192.0.2.1")
    assert (refusal.code, refusal.reason, refusal.wait) == (429, "banned", 60)
    with sign_ins.trying("192.0.2.2", NOW), sign_ins.trying("192.0.2.1", Monotonic(161.0)):
        pass


def test_wrong_ones_for_a_name_take_longer_from_everywhere_and_keep_nobody_out() -> None:
    sign_ins = SignIns(SignInRules())
    delays = [sign_ins.failed(f"192.0.2.{n}", "Boss", NOW) for n in range(20)]
    assert delays == [min(n, 10) for n in range(1, 21)]
    assert sign_ins.failed("198.51.100.1", "BOSS", NOW) == 10
    with sign_ins.trying("198.51.100.2", NOW):
        pass
    sign_ins.succeeded("198.51.100.2", "boss")
    assert sign_ins.failed("198.51.100.3", "boss", NOW) == 1


def test_few_of_one_address_try_at_once() -> None:
    sign_ins = SignIns(SignInRules(at_once=5, at_once_per_address=2))
    with ExitStack() as tries:
        for address in ("192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2"):
            tries.enter_context(sign_ins.trying(address, NOW))
        assert refused(sign_ins, "192.0.2.1").code == 429
        assert refused(sign_ins, "2001:db8::3").code == 429  # one /64 network
        assert len(sign_ins) == 4
    assert len(sign_ins) == 0


def test_who_guesses_takes_no_place_of_others() -> None:
    """Places are counted for three groups apart, and only while a password is looked at."""
    sign_ins = SignIns(SignInRules(at_once=3))
    sign_ins.succeeded("192.0.2.200", "boss")
    failed = [f"192.0.2.{number}" for number in range(1, 4)]
    for address in (*failed, "192.0.2.4"):
        sign_ins.failed(address, "boss", NOW)
    with ExitStack() as tries:
        for address in failed:
            tries.enter_context(sign_ins.looked_at(address, NOW))
        with pytest.raises(RequestRefused) as caught, sign_ins.looked_at("192.0.2.4", NOW):
            pass
        assert caught.value.code == 503
        for address in ("198.51.100.1", "198.51.100.2", "198.51.100.3"):
            tries.enter_context(sign_ins.looked_at(address, NOW))
        with pytest.raises(RequestRefused), sign_ins.looked_at("198.51.100.4", NOW):
            pass
        for address in ("192.0.2.200", "127.0.0.1", "::1"):
            tries.enter_context(sign_ins.looked_at(address, NOW))
        with pytest.raises(RequestRefused), sign_ins.looked_at("192.0.2.200", NOW):
            pass
    with sign_ins.looked_at("192.0.2.4", NOW):
        pass


def test_an_address_that_signed_in_before_is_slowed_down_and_not_kept_out() -> None:
    sign_ins = SignIns(SignInRules(FailureRules(banned_after=4, banned_for=60)))
    sign_ins.succeeded("192.0.2.1", "boss")
    for _ in range(9):
        sign_ins.failed("192.0.2.1", "boss", NOW)
    with sign_ins.trying("192.0.2.1", NOW):
        pass
    assert refused(sign_ins, "192.0.2.1").reason == "banned"
    assert refused(sign_ins, "192.0.2.1", NOW + 9).reason == "banned"
    with sign_ins.trying("192.0.2.1", Monotonic(NOW + 10)):
        pass


def test_what_is_remembered_is_bounded() -> None:
    sign_ins = SignIns(SignInRules(FailureRules(most_addresses=50)))
    for number in range(500):
        sign_ins.failed(f"192.0.{number // 250}.{number % 250}", f"name{number}", NOW)
    assert len(sign_ins._addresses) == len(sign_ins._names) == 50
