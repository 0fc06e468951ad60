import AfarTransport

/// What client and server have agreed on about the compression of messages (RFC 7692, section 7.1).
package struct MessageDeflate: Sendable, Hashable {
    /// Whether the server compresses a message with the knowledge of those before.
    package var serverKeepsContext = true
    /// Whether the client may do so.
    package var clientKeepsContext = true
    /// How far back the client may refer, as a power of two.
    package var clientWindowBits: Int32 = 15

    package init(clientWindowBits: Int32 = 15) { self.clientWindowBits = clientWindowBits }

    /// What a client offers.
    package static let offer = "permessage-deflate; client_max_window_bits"

    /// The agreement in a server's answer to ``offer``; nil when there is none.
    ///
    /// - Parameter extensions: The values of `Sec-WebSocket-Extensions`.
    /// - Throws: When the server wants something that was not offered, in which case the connection must fail.
    package static func agreement(in extensions: [String]) throws(WebSocketViolation) -> MessageDeflate? {
        let agreed = FieldScanner.elements(of: extensions)
        guard let first = agreed.first else { return nil }
        guard agreed.count == 1 else {
            throw .protocolError("the server agrees to more than was offered: \(agreed.joined(separator: ", "))")
        }
        var scanner = FieldScanner(first)
        guard scanner.token()?.lowercased() == "permessage-deflate" else {
            throw .protocolError("the server agrees to \"\(first)\", which was not offered")
        }
        var deflate = MessageDeflate()
        var seen: Set<String> = []
        while scanner.next != nil {
            guard let (name, value) = scanner.extensionParameter() else {
                throw .protocolError("\"\(first)\" is not understood")
            }
            let bits = value.flatMap { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int32($0) : nil }
            guard seen.insert(name).inserted else { throw .protocolError("\"\(name)\" stands twice in \"\(first)\"") }
            switch (name, value, bits) {
            case ("server_no_context_takeover", nil, _): deflate.serverKeepsContext = false
            case ("client_no_context_takeover", nil, _): deflate.clientKeepsContext = false
            // A window of any size can be read with the largest.
            case ("server_max_window_bits", _, let bits?) where (8...15).contains(bits): break
            case ("client_max_window_bits", _, let bits?) where (8...15).contains(bits):
                deflate.clientWindowBits = bits
            default: throw .protocolError("\"\(name)\" in \"\(first)\" is not understood")
            }
        }
        return deflate
    }
}

extension FieldScanner {
    /// The next parameter of an extension, its name in lower case (RFC 6455, section 9.1); nil for anything else.
    fileprivate mutating func extensionParameter() -> (name: String, value: String?)? {
        skipSpaces()
        guard skip(";") else { return nil }
        skipSpaces()
        guard let name = token()?.lowercased() else { return nil }
        skipSpaces()
        guard skip("=") else { return (name, nil) }
        skipSpaces()
        guard let value = quotedString() ?? token() else { return nil }
        skipSpaces()
        return (name, value)
    }
}
