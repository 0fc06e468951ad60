import AfarTransport
import COpenSSL

/// The authorities whose client certificates a server accepts (RFC 8446, section 4.2.4; RFC 5246, section 7.4.4).
enum AcceptedIssuers {
    private static let countLimit = 5
    private static let lengthLimit = 200

    /// Returns a description of the names that the server sent, or nil if it sent none.
    ///
    /// - Parameter ssl: The connection, during or after the handshake.
    static func description(of ssl: OpaquePointer) -> String? {
        guard let names = SSL_get0_peer_CA_list(ssl) else { return nil }
        let count = OPENSSL_sk_num(names)
        guard count > 0 else { return nil }
        let texts = (0..<min(count, Int32(countLimit))).compactMap { index in
            OPENSSL_sk_value(names, index).flatMap { text(of: OpaquePointer($0)) }
        }
        guard !texts.isEmpty else { return nil }
        let rest = Int(count) - texts.count
        return "it accepts certificates issued by " + texts.map { "\"\($0)\"" }.joined(separator: ", ")
            + (rest > 0 ? " and \(rest) other authorities" : "")
    }

    /// Returns a name on one line, in the format of RFC 4514: "CN=Example Authority,O=Example".
    private static func text(of name: OpaquePointer) -> String? {
        guard let buffer = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(buffer) }
        var bytes: UnsafePointer<CChar>?
        guard afar_print_name(buffer, name) >= 0 else { return nil }
        let count = afar_bio_contents(buffer, &bytes)
        guard let bytes, count > 0 else { return nil }
        let text = bytes.withMemoryRebound(to: UInt8.self, capacity: count) {
            TerminalText.line(String(decoding: UnsafeBufferPointer(start: $0, count: count), as: UTF8.self))
        }
        return text.count > lengthLimit ? text.prefix(lengthLimit) + "…" : text
    }
}
