/// What a server has done that it must not. The connection is closed with the code (RFC 6455, section 7.4.1).
package struct WebSocketViolation: Error, Hashable, CustomStringConvertible {
    package let closeCode: UInt16
    package let description: String

    static func protocolError(_ description: String) -> Self { Self(closeCode: 1002, description: description) }
    static func invalidText(_ description: String) -> Self { Self(closeCode: 1007, description: description) }
    static func messageTooBig(_ limit: Int) -> Self {
        Self(closeCode: 1009, description: "a message is longer than the \(limit) bytes that it may have")
    }
}
