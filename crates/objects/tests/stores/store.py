"""An S3 store for the tests: moto on loopback, asked by lines of JSON what boto3 and the Tink wheel see in it."""

import collections
import itertools
import json
import logging
import sys
import threading

import boto3
import tink
from moto.server import DomainDispatcherApplication, create_backend_app
from tink import cleartext_keyset_handle, streaming_aead
from werkzeug.serving import make_server

logging.getLogger("werkzeug").setLevel(logging.ERROR)
streaming_aead.register()
store = DomainDispatcherApplication(create_backend_app)
requests = []
failing = []  # the prefix of a path, and which requests to it fail
refused = []
ended = set()


def answer(environ, start_response):
    """moto's answer; a request that is to fail gets a 503 instead, and one to an upload that has ended S3's 404."""
    method, path, query = environ["REQUEST_METHOD"], environ["PATH_INFO"], environ["QUERY_STRING"]
    requests.append(f"{method} {path}?{query}")
    refusal = None
    upload = next((field for field in query.split("&") if field.startswith("uploadId=")), None)
    if any(path.startswith(prefix) and next(fails) for prefix, fails in list(failing)):
        refused.append(path)
        refusal = ("503 Slow Down", b"")
    elif upload in ended:
        refusal = ("404 Not Found", b"<Error><Code>NoSuchUpload</Code></Error>")
    if refusal:
        environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        start_response(refusal[0], [("Content-Length", str(len(refusal[1])))])
        return [refusal[1]]
    if upload and method in ("POST", "DELETE"):
        ended.add(upload)
    return store(environ, start_response)


server = make_server("127.0.0.1", 0, answer, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
endpoint = f"http://127.0.0.1:{server.server_port}"
credentials = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
s3 = boto3.client("s3", endpoint_url=endpoint, region_name="us-east-1", **credentials)
s3.create_bucket(Bucket="bucket")


def put(key, path):
    s3.upload_file(path, "bucket", key, Config=boto3.s3.transfer.TransferConfig(multipart_threshold=1 << 40))


def get(key, path):
    s3.download_file("bucket", key, path)


def keys(prefix):
    return [found["Key"] for found in s3.list_objects_v2(Bucket="bucket", Prefix=prefix).get("Contents", [])]


def uploads(prefix):
    return len(s3.list_multipart_uploads(Bucket="bucket", Prefix=prefix).get("Uploads", []))


def puts(key):
    """How often each part of a key was sent."""
    of_key = [line for line in requests if line.startswith(f"PUT /bucket/{key}?")]
    numbers = [part for line in of_key for part in line.split("?")[1].split("&") if part.startswith("partNumber=")]
    return collections.Counter(int(number.split("=")[1]) - 1 for number in numbers)


def fail(key, every):
    """Has each so-manieth request to what begins with a key fail, or none where that is 0, and says how many did until
    then. Those to others do not: a client that gives up after a few times may meet just those that fail."""
    fails = itertools.cycle([False] * (every - 1) + [True])
    failing[:] = [(f"/bucket/{key}", fails)] if every else []
    return len(refused)


def opens(keyset, key, plain, ad):
    """Whether the wheel opens an object, and finds what is in a file."""
    with open(keyset) as file:
        handle = cleartext_keyset_handle.read(tink.JsonKeysetReader(file.read()))
    body = s3.get_object(Bucket="bucket", Key=key)["Body"]
    primitive = handle.primitive(streaming_aead.StreamingAead)
    with primitive.new_decrypting_stream(body._raw_stream, ad.encode()) as stream, open(plain, "rb") as file:
        return stream.read() == file.read()


print(json.dumps(endpoint), flush=True)
for line in sys.stdin:
    task = json.loads(line)
    try:
        result = {"result": globals()[task.pop("do")](**task)}
    except Exception as error:  # whatever it is, the test shows it
        result = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(result), flush=True)
