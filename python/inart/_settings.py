"""What a worker joins with: arguments, and the environment where there are none."""

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

    An assignment or a controller that is given as an argument takes the place of both in the environment.
    ``INART_JOB`` is not heeded for an assignment that is given. ``WORLD_SIZE`` is what the job is compared with, where
    the rank is the environment's too.

    Raises:
        AssignmentError: there is no rank, or it is no number.
        InterfaceError: there is no interface.
    """
    environ = os.environ if environment is None else environment

    def told(name: str) -> Optional[str]:
        return environ.get(name) or None

    if job is None and assignment is None:
        job = told("INART_JOB")
    if assignment is None and controller is None:
        assignment, controller = told("INART_ASSIGNMENT"), told("INART_CONTROLLER")
        if assignment is not None:
            controller = None
    world_size = None
    if rank is None:
        rank, world_size = _number(told, "RANK"), _number(told, "WORLD_SIZE")
    if rank is None:
        raise AssignmentError("no rank: start the program with torchrun, set RANK, or pass rank=")
    if peer_timeout is None:
        peer_timeout = _number(told, "INART_PEER_TIMEOUT", float, "number of seconds")
    interface = interface or told("INART_INTERFACE")
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
        "report": told("INART_REPORT"),
        "status": status or told("INART_STATUS"),
        "tls_ca": tls_ca,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "tls_name": tls_name,
        "insecure": insecure,
    }


def _number(told: Any, name: str, kind: Any = int, what: str = "whole number") -> Any:
    text = told(name)
    if text is None:
        return None
    try:
        return kind(text)
    except ValueError:
        raise AssignmentError(f"{name} is {text!r}: set it to a {what}") from None
