"""Known secrets in every form in which they travel, and the shapes of well-known tokens."""

from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.security.redaction import MARK, MOST_ADDED, Redactor

SECRET = "s3cr3t/with+odd=chars&<more>\"'"
CLEAN = Redactor([SECRET])


@pytest.mark.fault("I2")
@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        f"\x1b[31m{SECRET}\x1b[0m",
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower(),
        json.dumps(SECRET),
        json.dumps(SECRET).replace("/", "\\/"),
        html.escape(SECRET),
        SECRET.encode().hex(),
        SECRET.encode().hex().upper(),
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_a_known_secret_is_taken_out(form: str) -> None:
    cleaned = CLEAN.text(f"before {form} after")
    assert MARK in cleaned
    assert form not in cleaned
    assert cleaned.startswith("before ") and cleaned.endswith(" after")


@pytest.mark.fault("I2")
@given(st.binary(max_size=20), st.binary(max_size=20), st.booleans())
def test_base64_of_a_longer_text_does_not_carry_it(before: bytes, after: bytes, url: bool) -> None:
    encode = base64.urlsafe_b64encode if url else base64.b64encode
    whole = encode(before + SECRET.encode() + after).decode()
    cleaned = CLEAN.text(whole)
    assert MARK in cleaned
    left = cleaned.replace(MARK, "")
    assert len(left) <= len(encode(before)) + len(encode(after)) + 8


@pytest.mark.parametrize(
    "token",
    [
        "ghp_" + "a" * 36,
        "ghs_" + "A1" * 20,
        "github_pat_" + "a1_" * 10,
        "sk-ant-" + "a-1_" * 10,
        "sk-" + "a1" * 20,
        "xoxb-123456789012-abcdef",
        "AKIA" + "A1" * 8,
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLWhlcmU",
        "key-" + "a2" * 8 + "." + "Z" * 30,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n",
        "-----BEGIN PRIVATE KEY-----\\nMIIE\\nabcd\\n",
    ],
)
@pytest.mark.parametrize("around", ["{0}", "x={0}&", "\x1b[32m{0}\x1b[0m", '"{0}"', "Bearer {0}"])
def test_the_shape_of_a_token_is_enough(token: str, around: str) -> None:
    cleaned = Redactor().text(around.format(token))
    assert MARK in cleaned
    assert token[8:] not in cleaned


def test_userinfo_of_an_address() -> None:
    cleaned = Redactor().text("fatal: https://user:pa55@example.com/x and ssh://h:22/y")
    assert cleaned == f"fatal: https://{MARK}@example.com/x and ssh://h:22/y"


@pytest.mark.parametrize(
    "text",
    [
        "plain words",
        "a sk-learn key-value gh pages eyJ AKIA",
        "http://host:80/a@b",
        "wo-" + "a" * 16,
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor(["", "short", SECRET]).text(text) == text


@pytest.mark.fault("I3")
def test_a_short_secret_does_not_eat_words() -> None:
    assert Redactor(["the", "pass"]).text("the password passes") == "the password passes"


def test_values_and_bytes() -> None:
    value = {"a": [SECRET, {SECRET: 1}], "n": 3, "none": None, "t": (SECRET,)}
    assert CLEAN.value(value) == {"a": [MARK, {MARK: 1}], "n": 3, "none": None, "t": [MARK]}
    odd = b"\xff\xfe" + SECRET.encode() + b"\x00"
    assert CLEAN.content(odd) == b"\xff\xfe" + MARK.encode() + b"\x00"


@pytest.mark.fault("I2")
def test_what_was_minted_later_is_known_from_then_on() -> None:
    redactor = Redactor([SECRET])
    clean, token = redactor.text, "ghs_" + "Ab1" * 12
    hidden = base64.b64encode(f"x-access-token:{token}".encode()).decode()
    assert token.encode().hex() in clean(token.encode().hex()) and hidden in clean(hidden)
    redactor.add(token)
    assert clean(f"a {token.encode().hex()} b") == f"a {MARK} b"
    assert MARK in clean(hidden) and MARK in clean(SECRET)


@pytest.mark.fault("I7")
def test_what_was_added_is_bounded_and_the_newest_stay() -> None:
    redactor = Redactor([SECRET])
    tokens = [f"ghs_{n:036d}" for n in range(MOST_ADDED + 10)]
    for token in [*tokens, tokens[20]]:
        redactor.add(token)
    hexed = [token.encode().hex() for token in tokens]
    assert redactor.text(hexed[0]) == hexed[0]
    assert redactor.text(hexed[-1]) == redactor.text(hexed[20]) == redactor.text(SECRET) == MARK
    # All of them share a few beginnings: ordinary text is not searched for each.
    assert len(redactor._by_beginning) < 40


@pytest.mark.fault("I7")
@pytest.mark.parametrize(
    "part",
    [
        "eyJ", "eyJaaaaaaaaaaaaa.", "eyJaaaaaaaaaaaa.eyJ", "ghp_", "github_pat_", "sk-", "sk-ant-",
        "key-", "key-aaaaaaaaaaaaaaaa.", "xoxb-", "AKIA", "://", "://a:", "://" + "a" * 256 + ":",
        "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", SECRET[:-1],
    ],
)  # fmt: skip
def test_the_time_is_linear_in_the_text(part: str) -> None:
    def seconds(size: int) -> float:
        text = part * (size // len(part))
        best = float("inf")
        for _ in range(3):
            begun = time.thread_time()
            CLEAN.text(text)
            best = min(best, time.thread_time() - begun)
        return best

    # The processor's time, not the clock's: others may be busy here. Eight times the text:
    # quadratic would be 64 times the time.
    assert seconds(400_000) < 32 * max(seconds(50_000), 0.0005)
