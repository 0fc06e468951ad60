package import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    package import FoundationNetworking
#else
    package import Foundation
#endif

extension HTTPRequest {
    /// Turns a `URLRequest` into what transports speak, after checking all that could make it mean something else on
    /// the wire: RFC 9110, sections 5.5 and 9.1, for what a header value and a method may hold.
    ///
    /// - Parameters:
    ///   - bodyLength: The length of the body in bytes, nil when it is not known beforehand.
    ///   - writtenURL: The text of which the URL was made, nil when it was made of none. Its path and query are sent as they
    ///     are written, with what has been added to the URL since then.
    /// - Throws: An ``AFError`` that says why it must not be sent; for a user name or password in the URL that Basic
    ///   authentication cannot carry, the one that `authenticate(username:password:)` brings for such a pair.
    package init(
        _ urlRequest: URLRequest, bodyLength: Int64?, writtenURL: @autoclosure () -> String? = nil
    ) throws {
        guard let url = urlRequest.url else { throw AFError.invalidURL(url: "") }
        let target: RequestTarget
        do {
            target = try RequestTarget(url, writtenAs: writtenURL().map { URLReference($0) })
        } catch {
            throw AFError(error, of: url)
        }
        let methodName = urlRequest.httpMethod ?? "GET"
        guard let method = HTTPRequest.Method(methodName) else {
            throw AFError.urlRequestValidationFailed(reason: .invalidMethod(methodName))
        }
        let fields = try Self.fields(urlRequest.allHTTPHeaderFields ?? [:], target)
        if let declared = fields[.contentLength] {
            // As text: "+5" and "05" are five to Int64, and something else to one server or another.
            guard fields[.transferEncoding] == nil, let bodyLength, declared == "\(bodyLength)" else {
                throw AFError.urlRequestValidationFailed(reason: .conflictingContentLength)
            }
        }
        self.init(
            method: method, scheme: target.scheme, authority: target.authority, path: target.path, headerFields: fields)
    }

    private static func fields(_ headers: [String: String], _ target: RequestTarget) throws -> HTTPFields {
        // A dictionary's order differs from run to run; a wire format's should not.
        var fields = try HTTPFields(checking: HTTPHeaders(headers))
        if let userinfo = target.userinfo, fields[.authorization] == nil {
            do {
                fields[.authorization] = try BasicAuthentication.authorization(
                    user: userinfo.user, password: userinfo.password,
                    url: "\(target.scheme)://\(target.authority)\(target.path)")
            } catch {
                throw AFError.sessionTaskFailed(error: error.urlError)
            }
        }
        return fields
    }
}

extension AFError {
    fileprivate init(_ fault: RequestTarget.Fault, of url: URL) {
        switch fault {
        case .incomplete: self = .invalidURL(url: url)
        case .unsupportedScheme(let scheme): self = .urlRequestValidationFailed(reason: .unsupportedScheme(scheme))
        case .malformed(let reason):
            self = .urlRequestValidationFailed(reason: .malformedURL(url, reason: reason))
        case .ambiguous(let reason):
            self = .urlRequestValidationFailed(reason: .ambiguousURL(url, reason: reason))
        }
    }
}
