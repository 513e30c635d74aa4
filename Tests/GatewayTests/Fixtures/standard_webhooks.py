"""Signs messages as the Standard Webhooks specification says: one JSON text per line in and out."""

import base64
import hashlib
import hmac
import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    signed = f"{message['id']}.{message['timestamp']}.{message['body']}".encode()
    code = hmac.new(base64.b64decode(message["secret"]), signed, hashlib.sha256).digest()
    print(json.dumps("v1," + base64.b64encode(code).decode()))
