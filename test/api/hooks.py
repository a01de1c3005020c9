"""What an OpenAPI document cannot say to schemathesis: who asks, and what exists."""

import json
import os
import re
from itertools import count

import schemathesis

# operationId -> the sender or receiver of a transfer, and the transfer, that a request may be about.
SCENE = json.loads(os.environ["API_TEST_SCENE"])
# These take the session or the account away from whoever asks: each request comes from somebody new.
SPENDING = {"logOut", "removeOtherSessions", "removeSession", "removeDevice", "eraseAccount"}
EXAMPLE_ID = "019b76da-a800-7a3b-9f7e-2b1c4d5e6f70"

KEY = "Idempotency-Key"
KEY_PATTERN = r"[A-Za-z0-9._:-]{1,64}"

numbers = count()
used_keys = set()


@schemathesis.hook
def before_call(context, case, kwargs):
    name = case.operation.definition.raw["operationId"]
    headers = {"X-Dev-User": "schemathesis", "X-Dev-Device": SCENE["devices"].get(name, "test-sender"), "X-Dev-Name": ""}
    if name in SPENDING:
        headers = {"X-Dev-User": f"spending-{next(numbers)}", "X-Dev-Device": "spending-device"}
    case.headers.update({key: value for key, value in headers.items() if key not in case.headers})
    # A key belongs to the first request that brings it; to another one the answer is 422.
    if re.fullmatch(KEY_PATTERN, str(case.headers.get(KEY, ""))):
        if case.headers[KEY] in used_keys:
            del case.headers[KEY]
        else:
            used_keys.add(case.headers[KEY])
    path = case.path_parameters or {}
    # The example stands for something that exists; whatever else is made up does not exist.
    if path.get("transfer_id") == EXAMPLE_ID and name in SCENE["transfers"]:
        path["transfer_id"] = SCENE["transfers"][name]


@schemathesis.serializer("application/partial-upload")
def bytes_of_a_file(context, value):
    return value.encode() if isinstance(value, str) else bytes(value)
