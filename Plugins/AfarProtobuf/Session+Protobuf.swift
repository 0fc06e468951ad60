public import AfarCore
public import SwiftProtobuf

extension Session {
    /// Makes a request with a message of Protocol Buffers as its body.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to `startRequestsImmediately`. What cannot be made or encoded reaches
    /// the handlers as their error.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - method: The method. The default is POST.
    ///   - message: The message.
    ///   - encoder: How the message is written. The default is the binary format, as `application/x-protobuf`.
    ///   - headers: Header fields. ``AfarCore/HTTPHeader/acceptProtobuf`` asks for a message in return.
    ///   - interceptor: Adapts and retries this request.
    ///   - shouldAutomaticallyResume: Whether handlers start the request.
    ///   - requestModifier: Changes the `URLRequest` before the message is put into it.
    public func request(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .post,
        protobuf message: some Message,
        encoder: ProtobufParameterEncoder = .protobuf,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        request(
            convertible, method: method, parameters: ProtobufBody(message), encoder: encoder, headers: headers,
            interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier)
    }

    /// Makes a request with a message of Protocol Buffers as its body, whose response is handed on while it arrives.
    ///
    /// Nothing is sent before the request is started, by `resume()` or by its first handler; `shouldAutomaticallyResume`
    /// says whether handlers start it, nil leaves that to `startRequestsImmediately`. What cannot be made or encoded reaches
    /// the handlers as their error.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - method: The method. The default is POST.
    ///   - message: The message.
    ///   - encoder: How the message is written. The default is the binary format, as `application/x-protobuf`.
    ///   - headers: Header fields. ``AfarCore/HTTPHeader/acceptProtobuf`` asks for messages in return.
    ///   - automaticallyCancelOnStreamError: Whether a failure in the stream cancels the request. The default is false.
    ///   - interceptor: Adapts and retries this request.
    ///   - shouldAutomaticallyResume: Whether handlers start the request.
    ///   - requestModifier: Changes the `URLRequest` before the message is put into it.
    public func streamRequest(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .post,
        protobuf message: some Message,
        encoder: ProtobufParameterEncoder = .protobuf,
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            convertible, method: method, parameters: ProtobufBody(message), encoder: encoder, headers: headers,
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError, interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume, requestModifier: requestModifier)
    }
}
