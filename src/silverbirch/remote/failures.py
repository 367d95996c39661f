"""What can go wrong with a remote file, in words: missing, not allowed, not connected."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

_T = TypeVar("_T")

_WAITS = (0.5, 1.5)  # seconds before another attempt; pyarrow tries again itself, too
_LONGEST = 200  # letters of another library's message
_MISSING = re.compile("NO_SUCH_BUCKET|NoSuchBucket|bucket does not exist")
_DENIED = re.compile(
    r"ACCESS_DENIED|INVALID_ACCESS_KEY|INVALID_CLIENT_TOKEN|INVALID_SIGNATURE|SIGNATURE_DOES_NOT_MATCH|EXPIRED_TOKEN|"
    r"SignatureDoesNotMatch|AuthFailure|PERMISSION_DENIED|UNAUTHENTICATED|AuthorizationFailure|"
    r"AuthenticationFailed|Forbidden|Unauthorized|HTTP status 40[13]"
)
_REMEDIES = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_PROFILE",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS",
    "gcs": "GOOGLE_APPLICATION_CREDENTIALS",
    "az": "AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY",
}
_ADDRESSES = {"s3": ", AWS_ENDPOINT_URL and AWS_DEFAULT_REGION", "hdfs": ", JAVA_HOME, HADOOP_HOME and CLASSPATH"}


@contextmanager
def explained(label: str) -> Iterator[None]:
    """Turns the errors of libraries into an OSError of one line that names the remote file and what to do."""
    try:
        yield
    except (ImportError, MemoryError, NotImplementedError, TypeError, AttributeError, LookupError):
        raise
    except ValueError as error:
        if f"{label.partition('://')[0]}://" in str(error):  # raised by this package: it names the place
            raise
        raise ValueError(f"{label} cannot be used: {_reason(error)}") from None
    except Exception as error:
        raise _explained(error, label) from None


def _explained(error: Exception, label: str) -> Exception:
    if getattr(error, "is_explained", False):
        return error
    found = _in_words(error, label)
    found.is_explained = True  # type: ignore[attr-defined]
    return found


def _in_words(error: Exception, label: str) -> OSError:
    reason, scheme = _reason(error), label.partition("://")[0]
    words = re.sub("'[^']*'", "", str(error))  # without the names of files, which may have any words
    if _MISSING.search(words):
        return FileNotFoundError(f"{label}: there is no such bucket: make it first, or correct the name")
    if isinstance(error, FileNotFoundError):
        return FileNotFoundError(f"{label}: there is no such file or folder")
    denied = isinstance(error, PermissionError) or getattr(error, "status", None) in (401, 403)
    if denied or _DENIED.search(words):
        check = _REMEDIES.get(scheme, "the credentials")
        return PermissionError(f"{label}: access is denied ({reason}): check {check}, and what they permit")
    return ConnectionError(
        f"{label} cannot be reached ({reason}): check the network{_ADDRESSES.get(scheme, '')}, then try again"
    )


def _reason(error: Exception) -> str:
    """The message of a library as one short line, without the number of the request and what may be signed."""
    text = " ".join(str(error).split()) or type(error).__name__
    text = re.sub(r" ?\(Request ID: [^)]*\)", "", text)
    text = re.sub(r"(https?://[^\s'\"?]*\?)[^\s'\"]*", r"\1…", text)
    return (text if len(text) <= _LONGEST else text[:_LONGEST] + "…").rstrip(". ")


def retried(attempt: Callable[[], _T], label: str, again: Callable[[], Any] = lambda: None) -> _T:
    """The result of `attempt`, which is called a few times if the connection fails; `again` is called before each."""
    for wait in _WAITS:
        try:
            with explained(label):
                return attempt()
        except ConnectionError:
            time.sleep(wait)
            again()
    with explained(label):
        return attempt()
