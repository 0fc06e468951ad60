import AfarCore
import AfarTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Sends requests to the endpoints of an authorization server.
///
/// Bodies of requests and responses are never part of the `URLRequest`, the `Request` or their descriptions.
struct EndpointSender: Sendable {
    /// The maximum size of a response in bytes.
    static let largestResponse = 1 << 20
    /// The maximum duration of a request in seconds.
    private static let maximumDuration: TimeInterval = 60

    /// Whether the current task sends a request to an authorization server. An ``OAuthInterceptor`` of the same session doesn't change such
    /// a request. Otherwise, the request would wait for its own result.
    @TaskLocal static var isSending = false

    let session: Session

    struct Reply: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let data: Data
        /// The secrets of the request, which a server could repeat in the description of an error.
        var secrets: [String] = []

        /// Returns the response's JSON object.
        ///
        /// - Throws: ``OAuthError/invalidResponse(_:)`` if the response contains no object.
        func object() throws(OAuthError) -> JSONObject {
            let type = headers["Content-Type"]?.lowercased().prefix { $0 != ";" && $0 != " " } ?? ""
            guard type == "application/json" || type.hasSuffix("+json") else {
                throw .invalidResponse("The response with the status \(status) isn't JSON.")
            }
            guard let object = JSONObject(data) else {
                throw .invalidResponse("The response with the status \(status) isn't a JSON object.")
            }
            return object
        }
    }

    func get(_ url: URL) async throws(OAuthError) -> Reply {
        var request = URLRequest(url: url)
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        return try await send(request, body: nil)
    }

    func post(_ form: [Parameter], to url: URL, headers: HTTPHeaders) async throws(OAuthError) -> Reply {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        for header in headers { request.setValue(header.value, forHTTPHeaderField: header.name) }
        return try await send(request, body: Data(FormText.encoded(form).utf8))
    }

    private func send(_ urlRequest: URLRequest, body: Data?) async throws(OAuthError) -> Reply {
        guard let origin = urlRequest.url.flatMap({ Origin($0) }) else {
            throw .invalidArgument("The endpoint isn't a URL with https and a host.")
        }
        guard origin.isSecure(over: session.configuration.network) else { throw .insecureURL(host: origin.host) }
        guard !Task.isCancelled else { throw .cancelled }
        var urlRequest = urlRequest
        urlRequest.cachePolicy = .reloadIgnoringLocalCacheData
        urlRequest.httpShouldHandleCookies = false
        let received = ReceivedBody()
        let response = await Self.$isSending.withValue(true) {
            let request: DataRequest =
                if let body {
                    session.upload(
                        FormUpload(urlRequest: urlRequest, body: body), interceptor: nil,
                        shouldAutomaticallyResume: true)
                } else {
                    session.request(urlRequest, interceptor: nil, shouldAutomaticallyResume: true)
                }
            request.redirect(using: .doNotFollow)
            request.validate { _, _, _ in .success(()) }
            // This isn't a deadline, because a deadline uses the session's time source.
            let duration = min(session.configuration.timeoutIntervalForResource, Self.maximumDuration)
            request.options { options in
                options.totalTimeout = duration
                // Without TLS, a proxy could read the secrets.
                if origin.scheme == "http" { options.network = session.configuration.network.withoutProxies }
            }
            // A retrier of the session can send the request again.
            request.onHTTPResponse { _ async in received.begin() }
            request.stream { [weak request] data in
                if !received.append(data) { request?.cancel() }
            }
            return await withTaskCancellationHandler {
                await request.serializing(NoBody()).response
            } onCancel: {
                request.cancel()
            }
        }
        guard let data = received.data else {
            throw .invalidResponse("It has more than \(Self.largestResponse) bytes.")
        }
        if let error = response.error {
            // Returns a complete object even if the connection was lost or the task was canceled afterward, because the object can
            // contain a new refresh token.
            guard JSONObject(data) != nil, response.response != nil else {
                throw Task.isCancelled ? .cancelled : .requestFailed(error)
            }
        }
        guard let head = response.response else {
            throw .requestFailed(.sessionTaskFailed(error: URLError(.badServerResponse)))
        }
        return Reply(status: head.statusCode, headers: head.headers, data: data)
    }
}

extension NetworkSettings? {
    /// The settings of a session or a request, with direct connections.
    var withoutProxies: NetworkSettings {
        var settings = self ?? NetworkSettings()
        settings.proxies = .none
        return settings
    }
}

/// The body of a response, up to a limit.
private final class ReceivedBody: Sendable {
    private let state = Locked<Data?>(Data())

    /// The body, or nil if it exceeds the limit.
    var data: Data? { state.withLock { $0 } }

    func begin() { state.withLock { $0 = Data() } }

    /// Returns false if the body exceeds the limit.
    func append(_ data: Data) -> Bool {
        state.withLock { state in
            guard let count = state?.count, count + data.count <= EndpointSender.largestResponse else {
                state = nil
                return false
            }
            state?.append(data)
            return true
        }
    }
}

/// Accepts any response. The body has been received elsewhere.
private struct NoBody: ResponseSerializer {
    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> Bool {
        if let error { throw error }
        return true
    }
}

/// A request with a form. The form is a stream, so descriptions of the request don't contain it.
private struct FormUpload: UploadConvertible {
    let urlRequest: URLRequest
    let body: Data

    func asURLRequest() -> URLRequest { urlRequest }

    func createUploadable() -> UploadRequest.Uploadable {
        let body = body
        return .chunks(
            RequestBodyStream(length: Int64(body.count), isReplayable: true) {
                let rest = Locked<Data?>(body)
                return {
                    rest.withLock { rest in
                        defer { rest = nil }; return rest
                    }
                }
            })
    }
}
