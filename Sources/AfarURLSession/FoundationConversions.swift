import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// MARK: - Requests

extension URLRequest {
    /// Creates the request of an exchange, without its body.
    init(_ exchange: Exchange) throws(TransportError) {
        func refusal(_ code: TransportError.Code, _ message: String) -> TransportError {
            TransportError(code, phase: .queued, url: exchange.url, message: message)
        }
        guard let url = URL(keepingEscapesOf: exchange.url), url.host?.isEmpty == false else {
            throw refusal(.invalidURL, "Foundation can't parse this URL")
        }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.longestTimeout)
        httpShouldHandleCookies = false

        let method = exchange.request.method.rawValue
        httpMethod = method
        guard httpMethod == method else {
            throw refusal(.unsupportedByTransport, "URLSession would change the method \(method)")
        }
        if method == "GET" || method == "HEAD", exchange.body.length != 0 {
            throw refusal(.unsupportedByTransport, "URLSession sends no body with \(method)")
        }
        if case .file(let file) = exchange.body, !file.isFileURL || !FileManager.default.isReadableFile(at: file) {
            throw refusal(.requestBodyFailed, "\(file.path) is not a readable file")
        }
        for (name, value) in exchange.sentFields { setValue(value, forHTTPHeaderField: name.rawName) }
    }

    /// The session's own timer has a resolution of one second. On Linux, the timer never fires for a task that waits for the
    /// delegate's answer to a redirect. This timeout is so long that the timers of ``RunningExchange`` always fire first.
    private static let longestTimeout: TimeInterval = 366 * 24 * 60 * 60
}

extension Exchange {
    /// The request's fields and the default fields, one line per name. `Content-Length` and `Transfer-Encoding` are omitted, because the
    /// session determines them.
    fileprivate var sentFields: [(HTTPField.Name, String)] {
        let own = request.headerFields
        var all = own
        for field in options.defaultFields.fields where !own.contains(field.name) { all.append(field) }
        if !options.decodesContent, !own.contains(.acceptEncoding) { all[.acceptEncoding] = "identity" }
        var seen: Set<HTTPField.Name> = [.contentLength, .transferEncoding]
        return all.compactMap { field in
            guard seen.insert(field.name).inserted else { return nil }
            return (field.name, all[values: field.name].joined(separator: field.name == .cookie ? "; " : ", "))
        }
    }
}

extension FileManager {
    /// Whether this is a readable regular file. For other files, the session would wait for bytes forever.
    fileprivate func isReadableFile(at url: URL) -> Bool {
        let type = try? attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.type] as? FileAttributeType
        return type == .typeRegular && isReadableFile(atPath: url.path)
    }
}

// MARK: - Responses

extension ResponseHead {
    /// Creates a head from a response of `URLSession`, and checks it against the exchange's limits.
    convenience init(_ response: URLResponse, for exchange: Exchange) throws(TransportError) {
        func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
            TransportError(code, phase: .awaitingResponse, url: exchange.url, message: message)
        }
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else {
            throw failure(.malformedResponse, "the response is not HTTP")
        }
        let options = exchange.options
        var lines: [(name: String, value: String)] = []
        for case (let name as String, let value as String) in response.allHeaderFields {
            if name.lowercased() == "set-cookie" {
                lines += Self.cookieLines(in: value).map { (name, $0) }
            } else {
                lines.append((name, value))
            }
        }
        guard lines.count <= min(options.maximumFieldCount, 65_000) else {
            throw failure(.headTooLarge, "the head has too many fields (\(lines.count))")
        }
        let size = lines.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= options.maximumResponseHeadSize else {
            throw failure(.headTooLarge, "the head is too large (\(size) bytes)")
        }
        var fields = HTTPFields()
        for line in lines {
            if let name = HTTPField.Name(line.name) { fields.append(HTTPField(name: name, value: line.value)) }
        }
        let lengths = Set(fields[values: .contentLength].joined(separator: ",").split(separator: ",").map(Self.trimmed))
        guard lengths.count <= 1, lengths.allSatisfy({ $0.allSatisfy(\.isNumber) && Int64($0) != nil }) else {
            throw failure(.malformedResponse, "the Content-Length is not a valid length")
        }
        if let length = lengths.first { fields[.contentLength] = length }
        if !options.decodesContent, let coding = fields[.contentEncoding], coding != "identity" {
            throw failure(.unsupportedByTransport, "URLSession always decodes \(coding)")
        }
        self.init(status: response.statusCode, fields: fields, url: exchange.responseURL)
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: .whitespaces)
    }

    /// Splits the Set-Cookie lines that the session has joined. A comma begins a new line if `name=` follows, which never occurs
    /// inside a date.
    private static func cookieLines(in joined: String) -> [String] {
        var lines: [String] = []
        for part in joined.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.prefix { $0 != ";" }
            let name = pair.prefix { $0 != "=" }.drop { $0 == " " }
            if pair.contains("="), HTTPField.Name(String(name)) != nil || lines.isEmpty {
                lines.append(String(part.drop { $0 == " " }))
            } else if let last = lines.popLast() {
                lines.append("\(last),\(part)")
            } else {
                lines.append(String(part))
            }
        }
        return lines
    }
}

// MARK: - Errors

extension TransportError {
    /// Converts a task's error.
    init(_ error: any Error, phase: Phase, url: String) {
        let urlError = error as? URLError
        let message = error.localizedDescription
        var code = urlError.map { Code($0.code) } ?? .unknown
        if code == .unknown || code == .unsupportedURL { code = Platform.code(ofMessage: message) ?? code }
        if code == .connectionLost, phase == .receiving { code = .bodyIncomplete }
        self.init(
            code,
            phase: Self.phase(of: code) ?? phase,
            url: url,
            message: message,
            transportCode: urlError?.errorCode,
            underlying: urlError?.redacted ?? error
        )
    }

    /// Returns the phase in which a code occurs, if there is only one.
    private static func phase(of code: Code) -> Phase? {
        switch code {
        case .invalidURL, .unsupportedURL: .queued
        case .cannotFindHost: .resolving
        case .cannotConnect, .notConnected: .connecting
        case .secureConnectionFailed, .certificateUntrusted, .certificateHasBadDate, .certificateNotYetValid,
            .certificateHasUnknownRoot, .clientCertificateRejected, .clientCertificateRequired:
            .tlsHandshake
        case .requestBodyFailed: .sending
        case .bodyIncomplete, .undecodableContent, .responseTooLarge: .receiving
        default: nil
        }
    }
}

extension URLError {
    /// A copy of the error, without the secrets that its URLs and texts contain.
    fileprivate var redacted: URLError {
        let userInfo = errorUserInfo.mapValues { value -> Any in
            switch value {
            case let url as URL: URL(string: Redaction.standard.url(url.absoluteString)) ?? url
            case let text as String: Redaction.standard.text(text)
            default: value
            }
        }
        return URLError(code, userInfo: userInfo)
    }
}
