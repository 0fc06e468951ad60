import Afar
import AfarCore
import AfarTransport
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
    /// The names of default headers that aren't sent.
    var removedHeaders: [String]
    var body: Body?
    /// The trust options, with the credential of the session if the command line has none.
    var security: SecurityOptions
    /// The named session, if any.
    var session: SessionFile?

    /// The encoded parameters of items and of `-G`, which are a part of the URL.
    private let query: String
    /// The headers of items.
    private let itemHeaders: [HeaderArgument]
    /// The Accept header that belongs to the body, if any.
    private let accept: String?
    /// Whether JSON text is sent as a form, because an option for forms contains it.
    private(set) var sendsJSONAsForm = false

    /// Creates the plan of the same request to another URL. The plan uses only the credential of that URL's session.
    init(repeating plan: RequestPlan, at url: String, _ options: some RequestSending) throws {
        try self.init(url: url, query: plan.query, headers: plan.itemHeaders, accept: plan.accept, options) {
            (plan.method, plan.body)
        }
    }

    /// Creates the plan of a request without a body.
    init(_ method: HTTPMethod, _ address: AddressArgument, _ options: some RequestSending) throws {
        try self.init(url: address.url, query: "", headers: [], options) { (method, nil) }
    }

    /// Creates the plan of a request with items.
    ///
    /// - Parameter commandMethod: The method of the command, if it has one.
    init(
        _ target: RequestWords.Target, _ choice: MethodOptions, commandMethod: HTTPMethod?,
        _ options: some RequestSending, _ bodyOptions: BodyOptions
    ) throws {
        var bodyOptions = bodyOptions
        func values(_ kinds: RequestItem.Kind...) throws -> [NamedValue] {
            try target.items.filter { kinds.contains($0.kind) }
                .map { NamedValue(name: $0.name.text, value: try $0.text) }
        }
        var query = try values(.query, .queryFile).urlEncoded
        if choice.isGet {
            let data = try bodyOptions.formData().map { String(decoding: $0, as: UTF8.self) } ?? ""
            query = [query, data].filter { !$0.isEmpty }.joined(separator: "&").replacing("#", with: "%23")
            (bodyOptions.data, bodyOptions.dataRaw, bodyOptions.dataUrlencode) = ([], nil, [])
        }
        let headers = try target.items.filter(\.kind.isHeader).map { try $0.header }
        let data = target.items.filter(\.kind.isData)
        let accept = bodyOptions.hasJSONText ? "application/json" : nil
        try self.init(url: target.url, query: query, headers: headers, accept: accept, options) { [bodyOptions] in
            let body = try Body(bodyOptions, items: data)
            let method = try choice.method(word: target.method, command: commandMethod, hasBody: body != nil)
            return (method, body)
        }
    }

    private init(
        url: String, query: String, headers: [HeaderArgument], accept: String? = nil, _ options: some RequestSending,
        _ content: () throws -> (HTTPMethod, Body?)
    ) throws {
        guard !url.allSatisfy(\.isWhitespace) else {
            throw Failure(.usage, "The URL is empty. Example: afar example.com")
        }
        if url.prefixMatch(of: /[\s$]*curl\s/) != nil {
            throw Failure(.usage, "This is a curl command instead of a URL. To run it, write: afar curl '…'")
        }
        (self.query, itemHeaders, self.accept) = (query, headers, accept)
        let parameters = try options.sending.query.map { try NamedValue($0, option: "--query") }.urlEncoded
        self.url = URLText.complete(url, query: [parameters, query].filter { !$0.isEmpty }.joined(separator: "&"))
        let fields = try options.sending.headers.map { try HeaderArgument($0) } + headers
        let own = fields + options.sending.shortcuts
        let session = try options.sending.session(for: self.url)
        (self.session, security) = (session, options.security)
        var stored = session?.headers ?? []
        if options.security.hasCredential {
            stored.removeAll { $0.name.lowercased() == "authorization" }
        } else if let credential = session?.credential,
            !own.contains(where: { $0.name.lowercased() == "authorization" })
        {
            try security.use(credential)
        }
        session?.add(own, options.security.storedCredential)
        let defaults = try options.sending.defaultHeaders.map { try HeaderArgument($0) }
        (self.headers, removedHeaders) = HTTPHeaders.combining(defaults.replaced(by: stored).replaced(by: own))
        if let authorization = try security.authorization() {
            guard self.headers["Authorization"] == nil else {
                throw Failure(.usage, "Choose between -H 'Authorization: …' and --bearer or --auth basic.")
            }
            self.headers.add(authorization)
        }
        (method, body) = try content()
        if let contentType = body?.contentType, canAdd("Content-Type") {
            self.headers.add(.contentType(contentType))
            sendsJSONAsForm = body?.isJSONInForm == true
        }
        if let accept, canAdd("Accept") { self.headers.add(.accept(accept)) }
        try checkRemovedHeaders()
    }

    /// Returns whether the command line neither has this header nor removes it.
    func canAdd(_ name: String) -> Bool { headers[name] == nil && !removes(name) }

    /// Returns whether a default header isn't sent.
    func removes(_ name: String) -> Bool { removedHeaders.contains { $0.lowercased() == name.lowercased() } }

    private func checkRemovedHeaders() throws {
        if removes("Host") {
            throw Failure(.usage, "\"Host:\" can't remove Host: every request requires it (RFC 9110, section 7.2).")
        }
        if removes("Content-Length"), body != nil {
            throw Failure(
                .usage, "\"Content-Length:\" can't remove Content-Length: the server needs the body's length.")
        }
    }

    /// Creates the request.
    func request(in session: Session) -> DataRequest {
        switch body {
        case .bytes(let bytes, _, _): session.upload(bytes, to: url, method: method, headers: headers)
        case .form(let parts): session.upload(parts, for: self)
        case nil: session.request(url, method: method, headers: headers)
        }
    }

    /// Returns Foundation's form of the request, without the body.
    func urlRequest() throws -> URLRequest { try URLRequest(url: url, method: method, headers: headers) }

    /// Throws the ``Failure`` of a request that can't be sent.
    func check() throws {
        do {
            _ = try HTTPRequest(urlRequest(), bodyLength: Int64(body?.bytes?.count ?? 0))
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
}

/// URLs as users write them.
enum URLText {
    /// Returns the complete URL for an argument, with additional query parameters that are already encoded.
    ///
    /// Characters that a path or query can't contain are percent-encoded. Existing escapes are preserved.
    static func complete(_ address: String, query: String = "") -> String {
        let address = withScheme(address.trimmingCharacters(in: .whitespacesAndNewlines))
        let afterScheme = address.range(of: "://")?.upperBound ?? address.startIndex
        let hostEnd = afterScheme == address.endIndex ? afterScheme : authority(in: address[afterScheme...]).endIndex
        let fragment = address.unicodeScalars[hostEnd...].firstIndex(of: "#") ?? address.endIndex
        var target = escaped(address[hostEnd..<fragment])
        if !query.isEmpty {
            let separator = !target.contains("?") ? "?" : target.hasSuffix("?") || target.hasSuffix("&") ? "" : "&"
            target += separator + query
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
        let host = String(host(in: authority(in: address[...])))
        let isLocal = NetworkSettings().staysOnThisMachine(scheme: "http", authority: host)
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
        if option == "--json", let first = text.first(where: { !$0.isWhitespace && $0 != "\u{FEFF}" }),
            "{[\"".contains(first)
        {
            throw Failure(.usage, "--json: the JSON text is invalid. To send any text, write --raw '…'.")
        }
        if option == "--form", MisplacedWords.isJSON(text) {
            throw Failure(.usage, "--form requires name=value, not JSON text. To send JSON text, write --json '{…}'.")
        }
        guard let sign = text.firstIndex(of: "="), sign != text.startIndex else {
            let advice = MisplacedWords.advice(for: text, option: option)
            throw Failure(.usage, "\(option) requires name=value, not \"\(text)\".\(advice)")
        }
        self.init(name: String(text[..<sign]), value: String(text[text.index(after: sign)...]))
    }

    init(name: String, value: String) { (self.name, self.value) = (name, value) }
}

extension [NamedValue] {
    /// The names and values as "a=1&b=2", escaped and in order. Names can repeat.
    var urlEncoded: String {
        let encoding = URLEncoding.default
        return map { "\(encoding.escape($0.name))=\(encoding.escape($0.value))" }.joined(separator: "&")
    }
}
