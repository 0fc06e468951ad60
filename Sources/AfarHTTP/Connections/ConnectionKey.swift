import AfarTransport
import HTTPTypes

/// Everything that distinguishes connections. A request can only use a connection with an equal key.
struct ConnectionKey: Hashable {
    /// The TLS settings that distinguish connections.
    struct Security: Hashable {
        let minimumVersion: ExchangeOptions.TLSVersion
        /// The client's identity and the evaluation of certificates; nil for the transport's defaults.
        let settings: ConnectionSecurity?

        static func == (lhs: Self, rhs: Self) -> Bool {
            lhs.minimumVersion == rhs.minimumVersion && lhs.settings === rhs.settings
        }

        func hash(into hasher: inout Hasher) { hasher.combine(settings.map { ObjectIdentifier($0) }) }
    }

    /// What a connection is used for.
    enum Purpose {
        case requests
        /// A request to switch to another protocol (RFC 9110, section 7.8). That protocol then takes over the connection.
        case upgrade
        /// Another protocol from the start, without an HTTP request.
        case otherProtocol
    }

    let purpose: Purpose
    /// The host's name or address, in lowercase and without brackets. An address includes its zone.
    let host: String
    let port: Int
    /// Nil without TLS.
    let security: Security?
    /// Nil if the transport decides how to connect.
    let route: ConnectionRoute?

    /// Creates the key for an exchange.
    ///
    /// - Throws: `Fault` if the port is invalid; `InvalidSetting` or `InvalidProxy` if a network setting can't be used.
    init(_ request: HTTPRequest, _ options: ExchangeOptions, for purpose: Purpose = .requests) throws {
        self.purpose = purpose
        let authority = request.authority ?? ""
        let isSecure = request.scheme == "https"
        security =
            isSecure ? Security(minimumVersion: options.minimumTLSVersion, settings: options.security) : nil
        var name = authority[...]
        var port = isSecure ? 443 : 80
        if let colon = authority.utf8.lastIndex(of: UInt8(ascii: ":")), authority.utf8.last != UInt8(ascii: "]") {
            let digits = authority[colon...].dropFirst()
            name = authority[..<colon]
            guard digits.utf8.allSatisfy(\.isDigit), let number = digits.isEmpty ? UInt16(port) : UInt16(digits) else {
                throw Fault(.invalidURL, "the port is not a number from 0 to 65535")
            }
            port = Int(number)
        }
        if name.utf8.first == UInt8(ascii: "[") {
            let address = String(name.dropFirst().dropLast())
            host = address.withoutZone.asciiLowercased + address.zone
        } else {
            host = String(name).asciiLowercased
        }
        self.port = port
        let host = host
        route = try options.networkBox.map {
            try ConnectionRoute(
                $0.settings, to: host, port: port, request, options, isRaw: purpose != .requests)
        }
    }

    /// Whether an evaluator validates the host's certificates.
    var isEvaluated: Bool { security?.settings?.evaluation != nil }

    /// The origin for statistics.
    var origin: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        let isDefault = port == (security == nil ? 80 : 443)
        return "\(security == nil ? "http" : "https")://\(name)" + (isDefault ? "" : ":\(port)")
    }
}
