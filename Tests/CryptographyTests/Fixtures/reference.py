"""Signs and checks with Python's `cryptography`: one JSON request a line in, one response a line out.

{"do": "sign", "alg": …, "text": …}                          → {"key": {…}, "signature": …}
{"do": "check", "x": …, "y": …, "text": …, "signature": …}   → {"isRight": …}
{"do": "seal", "key": …, "nonce": …, "data": …, "text": …}   → {"sealed": …}
All bytes are hexadecimal digits.
"""

import json
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, utils
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

SHA = hashes.SHA256()
RSA_KEY = rsa.generate_private_key(65537, 2048)


def number(value, count):
  return value.to_bytes(count, "big").hex()


def sign(request):
  text = bytes.fromhex(request["text"])
  if request["alg"] == "RS256":
    public = RSA_KEY.public_key().public_numbers()
    return {"key": {"n": number(public.n, 256), "e": "010001"},
            "signature": RSA_KEY.sign(text, padding.PKCS1v15(), SHA).hex()}
  key = ec.generate_private_key(ec.SECP256R1())
  public = key.public_key().public_numbers()
  r, s = utils.decode_dss_signature(key.sign(text, ec.ECDSA(SHA)))
  return {"key": {"x": number(public.x, 32), "y": number(public.y, 32)},
          "signature": number(r, 32) + number(s, 32)}


def check(request):
  key = ec.EllipticCurvePublicNumbers(
    int(request["x"], 16), int(request["y"], 16), ec.SECP256R1()).public_key()
  pair = bytes.fromhex(request["signature"])
  signature = utils.encode_dss_signature(
    int.from_bytes(pair[:32], "big"), int.from_bytes(pair[32:], "big"))
  try:
    key.verify(signature, bytes.fromhex(request["text"]), ec.ECDSA(SHA))
    return {"isRight": True}
  except InvalidSignature:
    return {"isRight": False}


def seal(request):
  key, nonce, data, text = (bytes.fromhex(request[name]) for name in ("key", "nonce", "data", "text"))
  return {"sealed": AESGCM(key).encrypt(nonce, text, data).hex()}


for line in sys.stdin:
  request = json.loads(line)
  print(json.dumps({"sign": sign, "check": check, "seal": seal}[request["do"]](request)))
