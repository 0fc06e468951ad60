import AfarTransport
import Foundation
package import HTTPTypes

/// The opening handshake of a client (RFC 6455, section 4.1).
package struct WebSocketHandshake: Sendable {
    /// The result of the handshake.
    package struct Agreement: Sendable, Hashable {
        /// The negotiated subprotocol, if any.
        package var `protocol`: String?
        package var deflate: MessageDeflate?

        /// Creates the agreement from the fields of a response that has been checked.
        package init(_ fields: HTTPFields) throws(WebSocketViolation) {
            `protocol` = fields[.secWebSocketProtocol]
            deflate = try .agreement(in: fields[values: .secWebSocketExtensions])
        }
    }

    private let key: String
    /// The value of `Sec-WebSocket-Accept` that the server must send.
    private let acceptance: String
    private let protocols: [String]

    /// - Parameter fields: The fields of the request, which can contain subprotocols.
    /// - Throws: ``WebSocketViolation`` if SHA-1, which the handshake requires, isn't available.
    package init(for fields: HTTPFields) throws(WebSocketViolation) {
        key = Data((0..<16).map { _ in UInt8.random(in: .min ... .max) }).base64EncodedString()
        guard let hash = HashFunction.sha1.hash(of: key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11") else {
            throw WebSocketViolation(
                closeCode: 1011, description: "the handshake requires SHA-1, which OpenSSL doesn't provide here")
        }
        acceptance = Data(hash).base64EncodedString()
        protocols = FieldScanner.elements(of: fields[values: .secWebSocketProtocol])
    }

    /// Sets the fields that identify a request for a WebSocket.
    package static func mark(_ fields: inout HTTPFields) {
        fields[.connection] = "Upgrade"
        fields[.upgrade] = "websocket"
    }

    /// Sets all fields of the handshake.
    package func complete(_ fields: inout HTTPFields) {
        Self.mark(&fields)
        fields[.secWebSocketVersion] = "13"
        fields[.secWebSocketKey] = key
        fields[.secWebSocketExtensions] = MessageDeflate.offer
    }

    /// Checks the response with status 101, or with another successful status over HTTP/2 (RFC 8441, section 5.1).
    @discardableResult
    package func agreement(in fields: HTTPFields, isHTTP2: Bool = false) throws(WebSocketViolation) -> Agreement {
        if !isHTTP2 { try checkUpgrade(fields) }
        let chosen = fields[values: .secWebSocketProtocol]
        guard chosen.count <= 1, chosen.allSatisfy(protocols.contains) else {
            throw .protocolError("the server chose a subprotocol that was not offered")
        }
        return try Agreement(fields)
    }

    private func checkUpgrade(_ fields: HTTPFields) throws(WebSocketViolation) {
        let (upgrade, connection) = (fields[values: .upgrade], fields[values: .connection])
        guard FieldScanner.elements(of: upgrade).contains(where: { $0.lowercased() == "websocket" }),
            FieldScanner.elements(of: connection).contains(where: { $0.lowercased() == "upgrade" })
        else { throw .protocolError("the server didn't upgrade the connection to a WebSocket") }
        guard fields[values: .secWebSocketAccept] == [acceptance] else {
            throw .protocolError("the server's response doesn't belong to this request (Sec-WebSocket-Accept)")
        }
    }
}
