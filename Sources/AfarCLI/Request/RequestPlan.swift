import Afar
import AfarCore
import ArgumentParser
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request that has been checked as far as possible without sending it.
struct RequestPlan {
    var method: HTTPMethod
    var url: String
    var headers: HTTPHeaders
    var body: Body?

    init(
        _ method: HTTPMethod, _ address: AddressArgument, _ options: some RequestSending,
        _ bodyOptions: BodyOptions? = nil
    ) throws {
        self.method = method
        guard !address.isBlank else {
            throw Failure(.usage, "The URL is empty. Example: afar \(method.rawValue.lowercased()) example.com")
        }
        let query = try options.sending.query.map { try NamedValue($0, option: "--query") }
        url = URLText.complete(address.url, query: query)
        headers = try HTTPHeaders(arguments: options.sending.headers)
        if let authorization = try options.security.authorization() {
            guard headers["Authorization"] == nil else {
                throw Failure(.usage, "Choose between -H 'Authorization: …' and --bearer or --auth basic.")
            }
            headers.add(authorization)
        }
        guard let bodyOptions else { return }
        let isWithoutBody = method == .get || method == .head
        if isWithoutBody, !(bodyOptions.json.isEmpty && bodyOptions.form.isEmpty && bodyOptions.data == nil) {
            throw Failure(
                .usage, "A \(method.rawValue) request has no body. For parameters, use --query; for a body, afar post."
            )
        }
        body = try Body(bodyOptions)
        if let body, headers.value(for: "Content-Type") == nil {
            headers.add(.contentType(body.contentType))
        }
    }

    /// Returns Foundation's form of the request, without the body.
    func urlRequest() throws -> URLRequest { try URLRequest(url: url, method: method, headers: headers) }

    /// Throws the ``Failure`` of a request that can't be sent.
    func check() throws {
        do {
            _ = try HTTPRequest(urlRequest(), bodyLength: Int64(body?.bytes.count ?? 0))
        } catch let error as AFError {
            throw Failure(error, url: url)
        }
    }
}

/// The URL argument of a request.
struct AddressArgument: ParsableArguments {
    @Argument(
        help: "The URL. The default scheme is https, or http for localhost, 127.… and [::1]. \":8080/x\" is localhost.")
    var url: String

    /// Whether the argument is blank, for example because a shell variable isn't set.
    var isBlank: Bool { url.allSatisfy(\.isWhitespace) }
}

/// URLs as users write them.
enum URLText {
    /// Returns the complete URL for an argument, with additional query items.
    ///
    /// Characters that a path or query can't contain are percent-encoded. Existing escapes are preserved.
    static func complete(_ address: String, query: [NamedValue] = []) -> String {
        let address = withScheme(address.trimmingCharacters(in: .whitespacesAndNewlines))
        let afterScheme = address.range(of: "://")?.upperBound ?? address.startIndex
        let hostEnd = afterScheme == address.endIndex ? afterScheme : authority(in: address[afterScheme...]).endIndex
        let fragment = address.unicodeScalars[hostEnd...].firstIndex(of: "#") ?? address.endIndex
        var target = escaped(address[hostEnd..<fragment])
        if !query.isEmpty {
            let separator = !target.contains("?") ? "?" : target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&"
            target += separator + query.urlEncoded
        }
        return address[..<hostEnd] + target
    }

    /// Returns the host with its port, if any: "localhost:8080".
    static func host(of url: String) -> String {
        // If the URL is invalid, a password can be in any part of it.
        let url = Redaction.standard.url(url)
        let rest = url.range(of: "://").map { url[$0.upperBound...] } ?? url[...]
        return String(host(in: authority(in: rest)))
    }

    /// Returns the part before the path. Compares scalars, because a slash can be followed by a combining character.
    private static func authority(in text: Substring) -> Substring {
        text[..<(text.unicodeScalars.firstIndex { "/?#".unicodeScalars.contains($0) } ?? text.endIndex)]
    }

    /// Returns an authority without its user name and password.
    private static func host(in authority: Substring) -> Substring {
        let scalars = authority.unicodeScalars
        return scalars.lastIndex(of: "@").map { authority[scalars.index(after: $0)...] } ?? authority
    }

    private static func withScheme(_ address: String) -> String {
        if address.prefixMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*:\/\//) != nil { return address }
        if address.hasPrefix(":") { return "http://localhost\(address)" }
        let host = host(in: authority(in: address[...]))
        let name = host.hasPrefix("[") ? host.prefix { $0 != "]" } + "]" : host.prefix { $0 != ":" }
        let isLocal = name.lowercased() == "localhost" || name.hasPrefix("127.") || name == "[::1]"
        return (isLocal ? "http://" : "https://") + address
    }

    private static func escaped(_ target: Substring) -> String {
        let bytes = Array(target.utf8)
        var text = ""
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                byte == UInt8(ascii: "%") && index + 2 < bytes.count && bytes[index + 1].isHexDigit
                && bytes[index + 2].isHexDigit
            if isEscape || allowed.contains(byte) {
                text.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                text += String(format: "%%%02X", Int(byte))
            }
        }
        return text
    }

    /// The characters of a path or query that need no escape (RFC 3986, sections 3.3 and 3.4).
    private static let allowed = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?".utf8)
}

/// A name and a value from the command line.
struct NamedValue: Equatable {
    var name: String
    var value: String

    /// Parses "name=value", where the value can contain "=".
    init(_ text: String, option: String) throws {
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
            throw Failure(.usage, "\(option) requires name=value, not \"\(text)\".")
        }
        name = String(text[..<sign])
        value = String(text[text.index(after: sign)...])
    }

    /// Parses "Name: value".
    init(header text: String) throws {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            // The message omits the value, which can be a secret.
            let name = text.prefix { $0.isLetter || $0.isNumber || "-_".contains($0) }
            throw Failure(.usage, "-H requires 'Name: value'\(name.isEmpty ? "" : ", as in '\(name): …'").")
        }
        name = text[..<colon].trimmingCharacters(in: .whitespaces)
        value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
}

extension [NamedValue] {
    /// The names and values as "a=1&b=2", escaped and in order. Names can repeat.
    var urlEncoded: String {
        let encoding = URLEncoding.default
        return map { "\(encoding.escape($0.name))=\(encoding.escape($0.value))" }.joined(separator: "&")
    }
}

extension HTTPHeaders {
    /// Creates headers from "Name: value" arguments and combines headers of the same name (RFC 9110, section 5.3; for
    /// cookies RFC 6265, section 5.4).
    init(arguments: [String]) throws {
        self.init()
        for argument in arguments {
            let header = try NamedValue(header: argument)
            let separator = header.name.lowercased() == "cookie" ? "; " : ", "
            add(name: header.name, value: value(for: header.name).map { $0 + separator + header.value } ?? header.value)
        }
    }
}
