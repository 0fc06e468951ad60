import AfarTransport
import Foundation
import HTTPTypes
import Testing

@testable import AfarWebSocket

struct WebSocketHandshakeTests {
    /// Tokens stand among subprotocols.
    @Test func anErrorShowsNoSubprotocol() throws {
        let handshake = WebSocketHandshake(for: [.secWebSocketProtocol: "chat"])
        var request = HTTPFields()
        handshake.complete(&request)
        let key = try #require(request[.secWebSocketKey])
        var response: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketProtocol: "secret"]
        response[.secWebSocketAccept] =
            Data(SHA1.hash(of: key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")).base64EncodedString()
        let violation = try #require(throws: WebSocketViolation.self) { try handshake.agreement(in: response) }
        #expect(violation.description == "the server chooses a subprotocol that was not offered")
        response[.secWebSocketProtocol] = "chat"
        #expect(try handshake.agreement(in: response).protocol == "chat")
    }
}
