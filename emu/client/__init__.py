"""The test client of a login server, a library for the command line, the tests and the benchmark.

`LoginClient` is the client without input and output, and `LoginFlow` runs a script over it. The
Twisted side, `open_client` and `ClientConnection`, is in `emu.net.client.connection`, so importing
this package loads no reactor.
"""

from emu.client.core import Credentials, LoginClient, LoginPhase
from emu.client.events import (
    AccountInfo,
    Characters,
    Closed,
    Created,
    Deleted,
    Event,
    Keymap,
    KeySent,
    ListedCharacter,
    ListedWorld,
    LoginAccepted,
    LoginDenied,
    LoginFlags,
    PlayAnswer,
    SessionUp,
    StatisticsAnswered,
    Unexpected,
    WorldList,
    WorldStatus,
)
from emu.client.flow import FlowStep, LoginFlow, Script, StepDone, whole_login
from emu.client.messages import ClientLoginMessages, shipped_messages

__all__ = [
    "AccountInfo",
    "Characters",
    "ClientLoginMessages",
    "Closed",
    "Created",
    "Credentials",
    "Deleted",
    "Event",
    "FlowStep",
    "KeySent",
    "Keymap",
    "ListedCharacter",
    "ListedWorld",
    "LoginAccepted",
    "LoginClient",
    "LoginDenied",
    "LoginFlags",
    "LoginFlow",
    "LoginPhase",
    "PlayAnswer",
    "Script",
    "SessionUp",
    "StatisticsAnswered",
    "StepDone",
    "Unexpected",
    "WorldList",
    "WorldStatus",
    "shipped_messages",
    "whole_login",
]
