extension Session {
    /// Makes a request for a WebSocket.
    ///
    /// It is started by `resume()` or by its first handler; ``startRequestsImmediately`` says whether handlers start it.
    ///
    /// - Parameters:
    ///   - url: With the scheme `ws` or `wss`; `http` and `https` mean the same.
    ///   - configuration: The subprotocol, limits and pings. The default is ``WebSocketRequest/Configuration/default``.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
    public func webSocketRequest(
        to url: any URLConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocketRequest(
            performing: ParameterizedRequest(url: url, method: .get, headers: headers, modifier: requestModifier),
            configuration: configuration, interceptor: interceptor)
    }

    /// Makes a request for a WebSocket, with parameters that an encoder puts into its URL.
    ///
    /// - Parameters:
    ///   - url: With the scheme `ws` or `wss`; `http` and `https` mean the same.
    ///   - configuration: The subprotocol, limits and pings. The default is ``WebSocketRequest/Configuration/default``.
    ///   - parameters: What is encoded.
    ///   - encoder: What encodes it. The default is ``URLEncodedFormParameterEncoder/default``.
    ///   - headers: Fields for the request. The default is none.
    ///   - interceptor: Adapts and retries this request. The default is none.
    ///   - requestModifier: Changes the `URLRequest`. The default is none.
    public func webSocketRequest<Parameters: Encodable & Sendable>(
        to url: any URLConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: RequestModifier? = nil
    ) -> WebSocketRequest {
        webSocketRequest(
            performing: ParameterizedRequest(
                url: url, method: .get, headers: headers, modifier: requestModifier, parameters, encoder),
            configuration: configuration, interceptor: interceptor)
    }

    /// Makes a request for a WebSocket from a value that can make a `URLRequest`.
    ///
    /// - Parameters:
    ///   - convertible: Makes a GET request.
    ///   - configuration: The subprotocol, limits and pings. The default is ``WebSocketRequest/Configuration/default``.
    ///   - interceptor: Adapts and retries this request. The default is none.
    public func webSocketRequest(
        performing convertible: any URLRequestConvertible,
        configuration: WebSocketRequest.Configuration = .default,
        interceptor: (any RequestInterceptor)? = nil
    ) -> WebSocketRequest {
        setUp(
            WebSocketRequest(
                convertible: convertible, configuration: configuration, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: nil))
    }

    /// Makes a request for a connection of TCP, over which bytes go both ways.
    ///
    /// - Parameters:
    ///   - hostName: A name or an address.
    ///   - port: The port, from 1 to 65,535.
    ///   - isSecure: Whether the connection begins with TLS. The default is false; see
    ///     ``StreamRequest/startSecureConnection(expecting:)`` for later.
    ///   - interceptor: Retries this request. The default is none.
    ///   - shouldAutomaticallyResume: Whether the first read or write starts the request; nil, which is the default, leaves that to
    ///     ``startRequestsImmediately``.
    public func stream(
        withHostName hostName: String, port: Int, isSecure: Bool = false,
        interceptor: (any RequestInterceptor)? = nil, shouldAutomaticallyResume: Bool? = nil
    ) -> StreamRequest {
        setUp(
            StreamRequest(
                hostName: hostName, port: port, isSecure: isSecure, session: state, interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume))
    }
}
