"""Settings of a worker: arguments first, then environment variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Optional, Union

from ._errors import AssignmentError, InterfaceError

Path = Union[str, "os.PathLike[str]"]


def settings(
    assignment: Optional[Path] = None,
    controller: Optional[str] = None,
    job: Optional[str] = None,
    rank: Optional[int] = None,
    interface: Optional[str] = None,
    peer_timeout: Optional[float] = None,
    *,
    non_finite: str = "pass",
    status: Optional[str] = None,
    tls_ca: Optional[Path] = None,
    tls_cert: Optional[Path] = None,
    tls_key: Optional[Path] = None,
    tls_name: Optional[str] = None,
    insecure: bool = False,
    environment: Optional[Mapping[str, str]] = None,
) -> dict[str, Any]:
    """The settings of ``inart.join`` as a dictionary for the extension module.

    An assignment or a controller given as an argument replaces both in the environment. ``INART_JOB`` is ignored
    if an assignment is given. ``WORLD_SIZE`` is compared with the job's size if the rank also comes from
    the environment.

    Raises:
        AssignmentError: the rank is missing, or is not a number.
        InterfaceError: no interface is set.
    """
    environ = os.environ if environment is None else environment

    def variable(name: str) -> Optional[str]:
        return environ.get(name) or None

    if job is None and assignment is None:
        job = variable("INART_JOB")
    if assignment is None and controller is None:
        assignment, controller = variable("INART_ASSIGNMENT"), variable("INART_CONTROLLER")
        if assignment is not None:
            controller = None
    world_size = None
    if rank is None:
        rank, world_size = _number(variable, "RANK"), _number(variable, "WORLD_SIZE")
    if rank is None:
        raise AssignmentError("no rank: start the program with torchrun, set RANK, or pass rank=")
    if peer_timeout is None:
        peer_timeout = _number(variable, "INART_PEER_TIMEOUT", float, "number of seconds")
    interface = interface or variable("INART_INTERFACE")
    if interface is None:
        raise InterfaceError("no interface to send on: set INART_INTERFACE or pass interface=, such as eth0")
    return {
        "assignment": None if assignment is None else os.fspath(assignment),
        "controller": controller,
        "job": job,
        "rank": rank,
        "world_size": world_size,
        "interface": interface,
        "peer_timeout": peer_timeout,
        "non_finite": non_finite,
        "report": variable("INART_REPORT"),
        "status": status or variable("INART_STATUS"),
        "tls_ca": tls_ca,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "tls_name": tls_name,
        "insecure": insecure,
    }


def _number(variable: Any, name: str, kind: Any = int, what: str = "whole number") -> Any:
    text = variable(name)
    if text is None:
        return None
    try:
        return kind(text)
    except ValueError:
        raise AssignmentError(f"{name} is {text!r}: set it to a {what}") from None
