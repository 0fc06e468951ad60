import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// MARK: - Requests

extension URLRequest {
    /// The request of an exchange, without its body.
    init(_ exchange: Exchange) throws(TransportError) {
        func refusal(_ code: TransportError.Code, _ message: String) -> TransportError {
            TransportError(code, phase: .queued, url: exchange.url, message: message)
        }
        guard let url = URL(keepingEscapesOf: exchange.url), url.host?.isEmpty == false else {
            throw refusal(.invalidURL, "Foundation cannot read this URL")
        }
        self.init(url: url, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: Self.farAway)
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
            throw refusal(.requestBodyFailed, "\(file.path) is no file that can be read")
        }
        for (name, value) in exchange.sentFields { setValue(value, forHTTPHeaderField: name.rawName) }
    }

    /// The session's own timer counts whole seconds and, on Linux, forgets a task that waits for its redirect's
    /// answer. It is set out of the way of ``RunningExchange``'s timers.
    private static let farAway: TimeInterval = 366 * 24 * 60 * 60
}

extension Exchange {
    /// The request's fields, the defaults beneath them, one line a name. How the body is framed is the session's
    /// business: a second word on that would contradict it.
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
    /// Whether this is a regular file and may be read. The session would wait for the bytes of another in vain.
    fileprivate func isReadableFile(at url: URL) -> Bool {
        let type = try? attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.type] as? FileAttributeType
        return type == .typeRegular && isReadableFile(atPath: url.path)
    }
}

// MARK: - Responses

extension ResponseHead {
    /// The head that URLSession has parsed, checked against the exchange's limits.
    convenience init(_ response: URLResponse, for exchange: Exchange) throws(TransportError) {
        func failure(_ code: TransportError.Code, _ message: String) -> TransportError {
            TransportError(code, phase: .awaitingResponse, url: exchange.url, message: message)
        }
        guard let response = response as? HTTPURLResponse, (100...999).contains(response.statusCode) else {
            throw failure(.malformedResponse, "the answer is not HTTP")
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
            throw failure(.headTooLarge, "the head has \(lines.count) fields")
        }
        let size = lines.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        guard size <= options.maximumHeadBytes else {
            throw failure(.headTooLarge, "the head has \(size) bytes")
        }
        var fields = HTTPFields()
        for line in lines {
            if let name = HTTPField.Name(line.name) { fields.append(HTTPField(name: name, value: line.value)) }
        }
        let lengths = Set(fields[values: .contentLength].joined(separator: ",").split(separator: ",").map(Self.trimmed))
        guard lengths.count <= 1, lengths.allSatisfy({ $0.allSatisfy(\.isNumber) && Int64($0) != nil }) else {
            throw failure(.malformedResponse, "the Content-Length is no length")
        }
        if let length = lengths.first { fields[.contentLength] = length }
        if !options.decodesContent, let coding = fields[.contentEncoding], coding != "identity" {
            throw failure(.unsupportedByTransport, "URLSession decodes \(coding) whether asked to or not")
        }
        self.init(status: response.statusCode, fields: fields, url: exchange.responseURL)
    }

    private static func trimmed(_ text: Substring) -> String {
        text.trimmingCharacters(in: .whitespaces)
    }

    /// Takes apart the Set-Cookie lines that the session has joined: a comma begins a line when a `name=` follows,
    /// which is never so inside a date.
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
    /// What a task's error says, in a transport's terms.
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

    /// The phase in which failures of this code happen, where there is only one.
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
    /// The same error without the secrets of the URLs that are printed with it.
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
