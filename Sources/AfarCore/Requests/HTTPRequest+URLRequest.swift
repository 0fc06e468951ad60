package import HTTPTypes

#if canImport(FoundationNetworking)
    import Foundation
    package import FoundationNetworking
#else
    package import Foundation
#endif

extension HTTPRequest {
    /// Converts a `URLRequest` to the type of request that transports send. Checks everything that could change the request's
    /// meaning when it is sent. RFC 9110, sections 5.5 and 9.1, define the valid header values and methods.
    ///
    /// - Parameters:
    ///   - bodyLength: The length of the body in bytes, or nil if it isn't known in advance.
    ///   - writtenURL: The text from which the URL was created, or nil if it wasn't created from text. The text's path and query
    ///     are sent as written, together with later additions to the URL.
    /// - Throws: An ``AFError`` that describes why the request can't be sent. If Basic authentication can't encode the URL's
    ///   user name or password, the error is the same as after `authenticate(username:password:)`.
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
            throw AFError.invalidRequest(.invalidMethod(methodName))
        }
        let fields = try Self.fields(urlRequest.allHTTPHeaderFields ?? [:], target)
        if let declared = fields[.contentLength] {
            // Compares text, because servers can interpret "+5" and "05" differently from `Int64`.
            guard fields[.transferEncoding] == nil, let bodyLength, declared == "\(bodyLength)" else {
                throw AFError.invalidRequest(.conflictingContentLength)
            }
        }
        self.init(
            method: method, scheme: target.scheme, authority: target.authority, path: target.path, headerFields: fields)
    }

    private static func fields(_ headers: [String: String], _ target: RequestTarget) throws -> HTTPFields {
        // `HTTPHeaders` sorts the dictionary, whose order varies between runs.
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
        case .unsupportedScheme(let scheme): self = .invalidRequest(.unsupportedScheme(scheme))
        case .malformed(let reason): self = .invalidRequest(.malformedURL(url, reason: reason))
        case .ambiguous(let reason): self = .invalidRequest(.ambiguousURL(url, reason: reason))
        }
    }
}
