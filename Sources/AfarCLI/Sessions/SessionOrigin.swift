import Afar
import AfarStages
import Foundation
import HTTPTypes

/// The server that a named session belongs to (RFC 6454, section 4).
struct SessionOrigin: Equatable {
    var scheme: String
    var host: String
    var port: Int

    /// Creates the origin of a URL. A WebSocket has the origin of its handshake. Nil if the URL is invalid.
    init?(url: String) {
        let isSocket = url.prefix(2).lowercased() == "ws"
        guard let url = URL(keepingEscapesOf: isSocket ? "http" + url.dropFirst(2) : url),
            let target = try? RequestTarget(url)
        else { return nil }
        scheme = target.scheme
        host = HostName(ofAuthority: target.authority).text
        port = HostName.port(ofAuthority: target.authority) ?? (target.scheme == "https" ? 443 : 80)
    }

    var text: String { "\(scheme)://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host):\(port)" }

    /// The name of the folder for the host's sessions: "example.com", "localhost_8080".
    var folder: String {
        let name = host.lowercased().map { $0.isASCII && ($0.isLetter || $0.isNumber || "-.".contains($0)) ? $0 : "_" }
        let safe = String(name).hasPrefix(".") ? "_" + String(name) : String(name)
        return port == 443 ? safe : "\(safe)_\(port)"
    }
}

/// The contents of a session's file.
struct StoredSession: Codable, Equatable {
    struct Header: Codable, Equatable {
        var name: String
        var value: String
    }

    struct Credential: Codable, Equatable {
        var user: String?
        var auth: String?
        var bearer: String?
    }

    static let currentVersion = 1

    var version = currentVersion
    var origin: String
    var headers: [Header] = []
    var credential: Credential?
    var cookies: [StoredCookie] = []

    /// Whether all headers can be sent. The error for an invalid header would contain parts of the header.
    var isValid: Bool {
        let areHeadersValid = headers.allSatisfy { HTTPField.Name($0.name) != nil && HTTPField.isValidValue($0.value) }
        return areHeadersValid && HTTPField.isValidValue(credential?.bearer ?? "")
    }
}

/// A cookie in a session's file.
struct StoredCookie: Codable, Equatable {
    /// The properties that identify a cookie (RFC 6265, section 5.3, step 11).
    struct Key: Hashable {
        var name: String
        var domain: String
        var path: String
        var isHostOnly: Bool
    }

    var name: String
    var value: String
    var domain: String
    var isHostOnly: Bool
    var path: String
    /// The seconds since 1970; nil for a session cookie.
    var expires: Double?
    var isSecure: Bool
    var isHTTPOnly: Bool
    var sameSite: String?

    init(_ cookie: Cookie) {
        (name, value, domain, isHostOnly) = (cookie.name, cookie.value, cookie.domain, cookie.isHostOnly)
        (path, isSecure, isHTTPOnly) = (cookie.path, cookie.isSecure, cookie.isHTTPOnly)
        expires = cookie.expires?.timeIntervalSince1970
        sameSite = cookie.sameSite?.rawValue
    }

    var key: Key { Key(name: name, domain: domain, path: path, isHostOnly: isHostOnly) }

    /// The cookie; nil if it's invalid.
    var cookie: Cookie? {
        Cookie(
            name: name, value: value, domain: domain, isHostOnly: isHostOnly, path: path,
            expires: expires.map { Date(timeIntervalSince1970: $0) }, isSecure: isSecure, isHTTPOnly: isHTTPOnly,
            sameSite: sameSite.flatMap { Cookie.SameSite(rawValue: $0) })
    }
}
