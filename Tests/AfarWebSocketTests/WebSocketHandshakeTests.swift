import AfarTransport
import Foundation
import HTTPTypes
import TestServers
import Testing

@testable import AfarWebSocket

struct WebSocketHandshakeTests {
    /// Some applications pass tokens as subprotocols.
    @Test func errorsContainNoSubprotocol() throws {
        let handshake = try WebSocketHandshake(for: [.secWebSocketProtocol: "chat"])
        var request = HTTPFields()
        handshake.complete(&request)
        let key = try #require(request[.secWebSocketKey])
        var response: HTTPFields = [.upgrade: "websocket", .connection: "Upgrade", .secWebSocketProtocol: "secret"]
        let hash = try #require(HashFunction.sha1.hash(of: key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
        response[.secWebSocketAccept] = Data(hash).base64EncodedString()
        let violation = try #require(throws: WebSocketViolation.self) { try handshake.agreement(in: response) }
        #expect(violation.description == "the server chose a subprotocol that was not offered")
        response[.secWebSocketProtocol] = "chat"
        #expect(try handshake.agreement(in: response).protocol == "chat")
    }

    #if os(Linux)
        @Test func aHandshakeWithoutSHA1IsAnError() throws {
            let violation = try withoutHashFunctions {
                #expect(throws: WebSocketViolation.self) { try WebSocketHandshake(for: [:]) }
            }
            #expect(violation?.description.contains("SHA-1") == true)
        }
    #endif
}
