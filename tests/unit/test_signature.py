"""Signature and encryption of callbacks, against the platform's vectors and the SDK as second opinion."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.domain.errors import SignatureError
from bot.feishu.signature import decrypt, encrypt, sign, verify

BODY = b'{"encrypt":"P37w+VZImNgPEO1RBhJ6RtKl7n6zymIbEG1pReEzghk="}'


def test_the_vectors_of_the_platform_hold():
    """Source: feishu-platform notes 7.2 and 7.3."""
    assert decrypt("test key", json.loads(BODY)["encrypt"]) == b"hello world"
    expected = "21b279029a3bdf7b9f02a4935c76c53f09876d9d0e45add77a99d55d1bc7e79e"
    assert sign("1700000000", "nonce1", "test key", BODY) == expected


@given(st.binary(max_size=300), st.text(min_size=1, max_size=40))
def test_what_is_encrypted_decrypts(plain, key):
    """Any bytes, any key."""
    assert decrypt(key, encrypt(key, plain)) == plain


@given(st.text(max_size=200))
def test_rubbish_is_refused_with_one_error(text):
    """Bad base64, bad length and bad padding cannot be told apart."""
    with pytest.raises(SignatureError, match=r"^body cannot be decrypted$") as caught:
        decrypt("key", text)
    assert caught.value.status == 401


@given(st.text(max_size=80))
def test_a_wrong_signature_is_refused_whatever_it_is(signature):
    """Also text that no header could hold."""
    with pytest.raises(SignatureError):
        verify(signature, "1", "n", "key", BODY)


def test_the_sdk_reads_what_we_encrypt():
    """The official cipher as second opinion; the SDK is loaded for this alone."""
    from lark_oapi.core.utils.decryptor import AESCipher

    assert AESCipher("some key").decrypt_str(encrypt("some key", "日报".encode())) == "日报"
