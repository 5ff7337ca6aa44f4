"""Proof that a callback is the platform's: verify the raw bytes first, in constant time, then decrypt.

Source: feishu-platform notes 7.2 (encryption) and 7.3 (signature); the tests hold their vectors.
"""

import base64
import binascii
import hashlib
import hmac
import os

from Crypto.Cipher import AES

from bot.domain.errors import SignatureError

BLOCK_BYTES = 16


def sign(timestamp: str, nonce: str, encrypt_key: str, body: bytes) -> str:
    """Hex SHA-256 of timestamp + nonce + key + body, the value of `X-Lark-Signature`."""
    return hashlib.sha256(timestamp.encode() + nonce.encode() + encrypt_key.encode() + body).hexdigest()


def verify(signature: str, timestamp: str, nonce: str, encrypt_key: str, body: bytes) -> None:
    """Raise SignatureError (401) unless `signature` is ours for these raw bytes."""
    expected = sign(timestamp, nonce, encrypt_key, body)
    if not hmac.compare_digest(expected.encode(), signature.encode("utf-8", "surrogateescape")):
        raise SignatureError(401, "signature does not match")


def encrypt(encrypt_key: str, plain: bytes, iv: bytes | None = None) -> str:
    """Base64 of IV and AES-256-CBC ciphertext with PKCS7 padding; the key is SHA-256 of the encrypt key."""
    iv = iv or os.urandom(BLOCK_BYTES)
    padding = BLOCK_BYTES - len(plain) % BLOCK_BYTES
    cipher = AES.new(_key(encrypt_key), AES.MODE_CBC, iv)
    return base64.b64encode(iv + cipher.encrypt(plain + bytes([padding]) * padding)).decode()


def decrypt(encrypt_key: str, encrypted: str, *, is_signed: bool = True) -> bytes:
    """Inverse of `encrypt`. Every failure raises the same SignatureError (401): the answer must not tell which.

    Nor must its time: of what is not signed a wrong padding is left where it is, and is refused for what it reads as.
    """
    failure = SignatureError(401, "body cannot be decrypted")
    try:
        raw = base64.b64decode(encrypted, validate=True)
    except (binascii.Error, ValueError):
        raise failure from None
    if len(raw) < 2 * BLOCK_BYTES or len(raw) % BLOCK_BYTES:
        raise failure
    plain = AES.new(_key(encrypt_key), AES.MODE_CBC, raw[:BLOCK_BYTES]).decrypt(raw[BLOCK_BYTES:])
    padding = plain[-1]
    is_sound = (1 <= padding <= BLOCK_BYTES) & plain.endswith(bytes([padding]) * padding)
    if is_signed and not is_sound:
        raise failure
    return plain[: len(plain) - padding * is_sound]


def _key(encrypt_key: str) -> bytes:
    return hashlib.sha256(encrypt_key.encode()).digest()
