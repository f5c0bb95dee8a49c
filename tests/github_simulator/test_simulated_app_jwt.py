"""Only what an App really signed, within GitHub's times, is accepted."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from github_simulator.outside import app_jwt

NOW_MS = 1_800_000_000_000
NOW_S = NOW_MS // 1000


@pytest.fixture(scope="module")
def keys() -> tuple[str, str]:
    return app_jwt.new_key_pair()


def claims(**changed: Any) -> dict[str, Any]:
    said = {"iat": NOW_S - 60, "exp": NOW_S + 540, "iss": "7"} | changed
    return {name: value for name, value in said.items() if value is not None}


def read(token: str, public: str) -> str:
    return app_jwt.issuer(token, lambda name: public if name == "7" else None, NOW_MS)


def refused(token: str, public: str) -> tuple[int, str]:
    with pytest.raises(app_jwt.Unreadable) as caught:
        read(token, public)
    return caught.value.status, caught.value.message


def test_a_fresh_token_names_its_app(keys: tuple[str, str]) -> None:
    private, public = keys
    assert read(app_jwt.fresh(private, 7, NOW_MS), public) == "7"
    assert read(app_jwt.sign(private, claims(iss=7)), public) == "7"


def test_the_edges_of_the_times_are_inside(keys: tuple[str, str]) -> None:
    private, public = keys
    assert read(app_jwt.sign(private, claims(iat=NOW_S, exp=NOW_S + 600)), public) == "7"
    assert read(app_jwt.sign(private, claims(exp=NOW_S + 1)), public) == "7"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"exp": NOW_S}, app_jwt.BAD_EXP),
        ({"exp": NOW_S - 3600}, app_jwt.BAD_EXP),
        ({"exp": None}, app_jwt.BAD_EXP),
        ({"exp": "soon"}, app_jwt.BAD_EXP),
        ({"exp": NOW_S + 601}, app_jwt.FAR_EXP),
        ({"iat": NOW_S + 1}, app_jwt.BAD_IAT),
        ({"iat": None}, app_jwt.BAD_IAT),
        ({"iat": NOW_S - 0.5}, app_jwt.BAD_IAT),
        ({"iss": None}, app_jwt.NO_ISS),
        ({"iss": True}, app_jwt.NO_ISS),
    ],
)
def test_wrong_claims_are_refused(
    keys: tuple[str, str], changed: dict[str, Any], message: str
) -> None:
    private, public = keys
    assert refused(app_jwt.sign(private, claims(**changed)), public) == (401, message)


def test_an_unknown_app_is_not_found(keys: tuple[str, str]) -> None:
    private, public = keys
    token = app_jwt.sign(private, claims(iss="8"))
    assert refused(token, public) == (404, app_jwt.UNKNOWN_ISS)


def test_another_key_does_not_speak_for_the_app(keys: tuple[str, str]) -> None:
    other, _ = app_jwt.new_key_pair()
    assert refused(app_jwt.sign(other, claims()), keys[1]) == (401, app_jwt.NOT_DECODED)


def test_changed_claims_break_the_signature(keys: tuple[str, str]) -> None:
    private, public = keys
    head, _, signature = app_jwt.sign(private, claims()).split(".")
    forged = base64.urlsafe_b64encode(json.dumps(claims(exp=NOW_S + 599)).encode()).rstrip(b"=")
    assert refused(f"{head}.{forged.decode()}.{signature}", public)[0] == 401


def test_only_rs256_is_a_signature(keys: tuple[str, str]) -> None:
    private, public = keys
    for header in ({"alg": "none"}, {"alg": "HS256"}, {"alg": "rs256"}, {"alg": None}):
        token = app_jwt.sign(private, claims(), header)
        assert refused(token, public) == (401, app_jwt.NOT_DECODED)


def test_an_hmac_over_the_public_key_is_no_signature(keys: tuple[str, str]) -> None:
    private, public = keys
    signed = app_jwt.sign(private, claims(), {"alg": "HS256"}).rpartition(".")[0]
    mac = hmac.new(public.encode(), signed.encode(), hashlib.sha256).digest()
    token = signed + "." + base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
    assert refused(token, public) == (401, app_jwt.NOT_DECODED)


@pytest.mark.parametrize("token", ["ey", "ey..", "ey.a.b", "eyJ9.é.x", "ey" + "A" * 9_000 + ".a.b"])
def test_nonsense_is_not_decoded(keys: tuple[str, str], token: str) -> None:
    assert refused(token, keys[1]) == (401, app_jwt.NOT_DECODED)


def test_a_padded_part_is_not_decoded(keys: tuple[str, str]) -> None:
    private, public = keys
    assert refused(app_jwt.sign(private, claims()) + "==", public) == (401, app_jwt.NOT_DECODED)
