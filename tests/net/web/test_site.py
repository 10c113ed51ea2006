from twisted.internet.testing import StringTransport
from twisted.web.http import Request
from twisted.web.resource import Resource

from emu.measures import Uses
from emu.net.web.answers import prepare
from emu.net.web.site import CountingSite


class Hello(Resource):
    def render_GET(self, request: Request) -> bytes:
        prepare(request, "text/plain", int(request.args[b"code"][0]))
        return b"hello"


def test_requests_are_counted_by_the_status_of_their_answers() -> None:
    root, uses = Resource(), Uses()
    root.putChild(b"", Hello())
    channel, transport = CountingSite(root, uses, 30.0).buildProtocol(None), StringTransport()
    channel.makeConnection(transport)
    for code in (200, 404, 200):
        channel.dataReceived(f"GET /?code={code} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    assert uses.requests == {"200": 2, "404": 1}
    channel.connectionLost(None)
