"""Credentials that the operator keeps with us, instead of in the environment of the server.

Rules:
- A secret is sealed before it is stored, for the name it has (security/vault.py). Afterwards its
  last four characters are all that is ever shown.
- It must be fit to be taken out of texts: not short, not a common word.
- Turning the key is in steps of which each leaves every credential readable: the new key joins the
  old ones, everything is sealed with it, the old ones go. Who is interrupted does it again.
- With keys of the environment it is the operator who lets the new one join and the old ones go.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agent_work_orders.errors import Environmental, NotFound, Refused
from agent_work_orders.security import given
from agent_work_orders.security import vault as vaults
from agent_work_orders.security.redaction import SHORTEST
from agent_work_orders.security.vault import KEY_BYTES, KEY_FILE, Vault
from agent_work_orders.state_manager.credentials import KeptCredential
from agent_work_orders.work_orders.context import Context

PUBLIC = ("GITHUB_APP_ID",)
"""Kept beside the secrets that it belongs to; none itself."""
MAX_CHARS = 32_768
"""An RSA key of 8,192 bits takes 6,400."""
LEAST_DIFFERENT = 5
# Beginnings that people type where a secret is asked for; redacting them would hide ordinary text.
_WORDS = frozenset(
    {"changeme", "password", "passw0rd", "secretsecret", "anthropic", "github-token"}
)


async def keep(context: Context, name: str, secret: str, *, keys: str = "") -> KeptCredential:
    """`keys` are those of the environment; without, the data directory's are used (and made).
    Refused `credential_weak`."""
    return (await keep_all(context, {name: secret}, keys=keys))[0]


async def keep_all(
    context: Context, secrets: Mapping[str, str], *, keys: str = ""
) -> list[KeptCredential]:
    """All of them or none: an App's number is worth nothing without its key."""
    for name, secret in secrets.items():
        if name not in PUBLIC:
            check(name, secret)
    vault = Vault(_ring(context.home, keys))
    kept = [
        KeptCredential(
            name=name,
            sealed=vault.seal(name, secret),
            last4=secret.rstrip()[-4:] if "\n" not in secret.strip() else "PEM",
            changed_at_ms=context.clock.now_ms(),
        )
        for name, secret in secrets.items()
    ]
    await context.store.credentials.put(*kept)
    for name in secrets:
        await _note(context, "credential.set", name, {})
    return kept


def check(name: str, secret: str) -> None:
    plain = secret.strip().lower()
    if len(plain) < SHORTEST or len(set(plain)) < LEAST_DIFFERENT or plain in _WORDS:
        raise Refused(
            "credential_weak",
            f"What was given for {name} is short, uniform or a common word",
            hint=f"A secret has at least {SHORTEST} characters that nobody would write by chance.",
            field=name,
        )
    if len(secret) > MAX_CHARS:
        raise Refused(
            "credential_weak",
            f"What was given for {name} is longer than any secret",
            hint=f"At most {MAX_CHARS} characters.",
            field=name,
        )


async def remove(context: Context, name: str) -> None:
    if not await context.store.credentials.remove(name):
        raise NotFound(
            "credential_unknown",
            f"No credential is kept for {given.named(name)}",
            hint="`awo credentials list` shows those that are.",
        )
    await _note(context, "credential.remove", name, {})


def opened(home: Path, kept: list[KeptCredential], *, keys: str = "") -> Mapping[str, str]:
    """The secrets by name. Environmental `secret_key_missing`, Broken `secret_damaged`, Refused
    `secret_key_invalid`. No key is made to look at what is there."""
    if not kept:
        return {}
    if not keys and not os.path.lexists(home / KEY_FILE):
        raise Environmental(
            "secret_key_missing",
            f"Credentials are kept, but {home / KEY_FILE}, which opens them, is not there",
            hint="Restore it, or give AWO_SECRET_KEY, or remove the credentials.",
        )
    vault = Vault(_ring(home, keys))
    return {one.name: vault.open(one.name, one.sealed) for one in kept}


async def rotate(context: Context, *, keys: str = "") -> int:
    """Seal everything with a new key; returns how many. Refused `secret_key_not_new` when the
    environment has no other key to turn to."""
    ring = _ring(context.home, keys)
    if keys:
        if len(ring) == 1:
            raise Refused(
                "secret_key_not_new",
                "AWO_SECRET_KEY has one key, so there is none to turn to",
                hint="Put a new one before it, separated by a comma, and try again.",
                field="AWO_SECRET_KEY",
            )
        changed = await _reseal(context, ring)
    else:
        if len(ring) > 1:
            # Somebody was interrupted. Finished first, or keys would pile up until one is lost.
            await _reseal(context, ring)
        ring = [os.urandom(KEY_BYTES), *ring[:1]]
        vaults.write_key_file(context.home, ring)
        changed = await _reseal(context, ring)
        vaults.write_key_file(context.home, ring[:1])
    await _note(context, "credential.rotate", "", {"resealed": changed})
    return changed


async def _reseal(context: Context, ring: list[bytes]) -> int:
    """With the first of the ring."""
    vault = Vault(ring)

    def anew(one: KeptCredential) -> bytes:
        return vault.reseal(one.name, one.sealed) if vault.is_stale(one.sealed) else one.sealed

    return await context.store.credentials.reseal(anew)


def _ring(home: Path, keys: str) -> list[bytes]:
    return vaults.read_keys(keys) if keys else vaults.key_file(home)


async def _note(context: Context, what: str, target: str, details: dict[str, Any]) -> None:
    await context.store.audit.append(
        at_ms=context.clock.now_ms(), who="local", what=what, target=target, details=details
    )
