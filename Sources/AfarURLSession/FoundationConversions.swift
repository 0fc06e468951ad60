import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

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
