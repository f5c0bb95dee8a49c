"""Sealed secrets open for their row, with their key, unchanged; else loudly not at all."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_work_orders.errors import Broken, Environmental, Refused
from agent_work_orders.security.vault import KEY_FILE, NONCE_BYTES, Vault, key_file, read_keys

OLD, NEW = b"o" * 32, b"n" * 32
VAULT = Vault([OLD])


@given(st.text(), st.text(st.characters(exclude_categories=["Cs"])))
def test_what_is_sealed_opens(row: str, secret: str) -> None:
    row = row.encode("utf-8", "replace").decode()
    assert VAULT.open(row, VAULT.seal(row, secret)) == secret


@pytest.mark.fault("I4")
def test_the_secret_and_the_key_are_not_in_it() -> None:
    sealed = VAULT.seal("row-1", "a secret that is long")
    assert b"secret" not in sealed and OLD not in sealed
    assert "o" * 8 not in repr(VAULT)


@pytest.mark.fault("I4")
def test_another_rows_is_refused() -> None:
    sealed = VAULT.seal("row-1", "s3cret")
    for row in ("row-2", "row-11", "", "row-1 "):
        with pytest.raises(Broken) as refused:
            VAULT.open(row, sealed)
        assert refused.value.code == "secret_damaged"


@pytest.mark.fault("I4")
def test_every_changed_bit_is_found() -> None:
    sealed = VAULT.seal("row-1", "s3cret")
    for place in range(len(sealed)):
        for bit in range(8):
            changed = bytearray(sealed)
            changed[place] ^= 1 << bit
            with pytest.raises((Broken, Environmental)):
                VAULT.open("row-1", bytes(changed))
    for cut in range(len(sealed)):
        with pytest.raises(Broken):
            VAULT.open("row-1", sealed[:cut])


@pytest.mark.fault("I4")
def test_a_wrong_key_is_named_not_guessed() -> None:
    with pytest.raises(Environmental) as refused:
        Vault([NEW]).open("row-1", VAULT.seal("row-1", "s3cret"))
    assert refused.value.code == "secret_key_missing" and refused.value.hint


@pytest.mark.fault("I4")
def test_a_nonce_is_not_used_twice() -> None:
    asked: list[int] = []

    def chance(size: int) -> bytes:
        asked.append(size)
        return os.urandom(size)

    vault = Vault([OLD], chance=chance)
    sealed = {vault.seal("row-1", "s3cret") for _ in range(1_000)}
    assert len(sealed) == 1_000 and asked == [NONCE_BYTES] * 1_000


def test_keys_are_rotated() -> None:
    sealed = VAULT.seal("row-1", "s3cret")
    both = Vault([NEW, OLD])
    assert both.is_stale(sealed) and both.open("row-1", sealed) == "s3cret"
    again = both.reseal("row-1", sealed)
    assert not both.is_stale(again) and Vault([NEW]).open("row-1", again) == "s3cret"
    with pytest.raises(Environmental):
        VAULT.open("row-1", again)


def test_a_key_file_is_made_once_for_its_owner_alone(tmp_path: Path) -> None:
    keys = key_file(tmp_path)
    file = tmp_path / KEY_FILE
    assert file.stat().st_mode & 0o777 == 0o600 and len(keys[0]) == 32
    assert key_file(tmp_path) == keys
    more = base64.urlsafe_b64encode(b"\xff" * 32).decode()
    file.write_text(f"{more}\n{file.read_text()}")
    assert key_file(tmp_path) == [b"\xff" * 32, *keys]


@pytest.mark.parametrize("harm", ["mode", "empty", "garbage", "short", "twice", "link"])
def test_a_key_file_that_is_not_right_is_never_replaced(tmp_path: Path, harm: str) -> None:
    key_file(tmp_path)
    file = tmp_path / KEY_FILE
    content = file.read_text()
    match harm:
        case "mode":
            file.chmod(0o640)
        case "link":
            file.rename(tmp_path / "elsewhere")
            file.symlink_to(tmp_path / "elsewhere")
        case _:
            texts = {"empty": "", "garbage": "!!", "short": "YWJj", "twice": content * 2}
            file.write_text(texts[harm])
    before = file.read_text()
    with pytest.raises(Refused) as refused:
        key_file(tmp_path)
    assert refused.value.code == "secret_key_invalid" and content.strip() not in str(refused.value)
    assert file.read_text() == before


@pytest.mark.parametrize("text", ["", ",", "abc", "YWJj", ",".join(["x"] * 9)])
def test_what_is_no_key(text: str) -> None:
    with pytest.raises(ValueError, match="key"):
        read_keys(text)
