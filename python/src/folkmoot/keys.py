"""Ed25519 keys of agents, and canonical JSON (RFC 8785). docs/protocol.md, section 4."""
from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .errors import FolkmootError

INSTALL = "pip install 'folkmoot[agent]', or Debian's python3-cryptography or python3-nacl"
LARGEST_INTEGER = 2**53 - 1


def sha256(data: str | bytes) -> str:
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


class Keys:
    """The keys of one agent. `public_key` and `agent_id` are public."""

    def __init__(self, seed: bytes) -> None:
        """Takes the 32-byte seed of RFC 8032. Raises FolkmootError."""
        if len(seed) != 32:
            raise FolkmootError(f"invalid private key: {len(seed)} bytes (expected 32)")
        self._seed = seed
        self._sign, public = _signer(seed)
        self.public_key = public.hex()
        self.agent_id = f"agent_{sha256(f'agentnet-v1-agent{chr(10)}{self.public_key}')[:32]}"

    def __repr__(self) -> str:
        return f"<Keys {self.agent_id}>"

    @classmethod
    def generate(cls) -> Keys:
        return cls(secrets.token_bytes(32))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Keys:
        """Reads a key file of `save` or of `folkmoot keygen`. Raises FolkmootError."""
        try:
            kept = json.loads(Path(path).read_text("utf-8"))
            seed = bytes.fromhex(kept["private_key"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            # The message of a parser could contain a part of the secret.
            reason = error if isinstance(error, OSError) else "expected a file of folkmoot keygen"
            raise FolkmootError(f"cannot read key {path}: {reason}") from None
        keys = cls(seed)
        if kept.get("public_key", keys.public_key).lower() != keys.public_key:
            raise FolkmootError(f"public and private key do not match: {path}")
        return keys

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a new key file that only this user can read."""
        kept = {"agent_id": self.agent_id, "public_key": self.public_key,
                "private_key": self._seed.hex()}
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with os.fdopen(os.open(path, flags, 0o600), "w") as file:
            file.write(json.dumps(kept))

    def sign(self, text: str) -> str:
        """Signs a text. Returns hex."""
        return self._sign(text.encode()).hex()


def _signer(seed: bytes) -> tuple[Callable[[bytes], bytes], bytes]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        pass
    else:
        key = Ed25519PrivateKey.from_private_bytes(seed)
        raw = serialization.Encoding.Raw, serialization.PublicFormat.Raw
        return key.sign, key.public_key().public_bytes(*raw)
    try:
        from nacl.signing import SigningKey
    except ImportError:
        raise FolkmootError(
            "no Ed25519 library found", code="NO_ED25519", advice=INSTALL
        ) from None
    signing = SigningKey(seed)
    return lambda data: bytes(signing.sign(data).signature), bytes(signing.verify_key)


def verify(text: str, public_key: str, signature: str) -> bool:
    """Verifies a signature. Returns False for malformed keys and signatures too."""
    if not (re.fullmatch("[0-9a-fA-F]{64}", public_key) and len(signature) == 128):
        return False
    try:
        key, given = bytes.fromhex(public_key), bytes.fromhex(signature)
    except ValueError:
        return False
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return _verify_with_nacl(text, key, given)
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(given, text.encode())
        return True
    except (InvalidSignature, ValueError):
        return False


def _verify_with_nacl(text: str, key: bytes, signature: bytes) -> bool:
    try:
        from nacl.exceptions import CryptoError
        from nacl.signing import VerifyKey
    except ImportError:
        raise FolkmootError(
            "no Ed25519 library found", code="NO_ED25519", advice=INSTALL
        ) from None
    try:
        VerifyKey(key).verify(text.encode(), signature)
        return True
    except (CryptoError, ValueError):
        return False


def parse(text: str | bytes | bytearray) -> Any:
    """Parses JSON of others. Raises ValueError, also if the text is nested too deeply."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("JSON is nested too deeply") from None


def canonical(value: Any) -> str:
    """Serializes a value as canonical JSON. Raises ValueError for what JSON cannot hold."""
    if value is None or isinstance(value, (bool, str)):
        text = json.dumps(value, ensure_ascii=False)
        # Lone surrogates have no bytes.
        text.encode()
        return text
    if isinstance(value, int):
        if abs(value) > LARGEST_INTEGER:
            raise ValueError(f"integer beyond 2^53: {value}")
        return str(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) for name in value):
            raise ValueError("name of a member is not a text")
        # Names are ordered by UTF-16 code units.
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{%s}" % ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names)
    if isinstance(value, (list, tuple)):
        return "[%s]" % ",".join(map(canonical, value))
    raise ValueError(f"not JSON: {type(value).__name__}")


def _number(value: float) -> str:
    """Formats a number as JavaScript does. The shortest digits are those of `repr`."""
    if not math.isfinite(value):
        raise ValueError(f"not JSON: {value}")
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    if 0 < point <= 21:
        if len(digits) <= point:
            return sign + digits + "0" * (point - len(digits))
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    power = point - 1
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if power > 0 else '-'}{abs(power)}"
