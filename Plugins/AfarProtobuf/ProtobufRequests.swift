public import AfarCore
public import Foundation
public import SwiftProtobuf

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// An encoder that writes a Protocol Buffers message as a request body. The parameters are a ``ProtobufBody`` that contains the
/// message.
public struct ProtobufParameterEncoder: ParameterEncoder {
    /// The format of messages.
    public var format: ProtobufFormat
    /// The content type to set if the request has none.
    public var contentType: String
    /// The options for the binary format, such as whether equal messages with maps are always encoded as equal bytes.
    public var binary = BinaryEncodingOptions()
    /// The options for JSON.
    public var json = JSONEncodingOptions()

    /// Creates an encoder.
    ///
    /// - Parameters:
    ///   - format: The format of messages. The default is the binary format.
    ///   - contentType: The content type to set if the request has none. The default, nil, means `application/x-protobuf`, or
    ///     `application/json` for JSON.
    public init(format: ProtobufFormat = .binary, contentType: String? = nil) {
        self.format = format
        self.contentType = contentType ?? format.contentType
    }

    /// Returns the request with the message as its body.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` with an error of swift-protobuf if the message lacks required fields, or with a
    ///   ``ProtobufEncodingError`` if the parameters aren't a ``ProtobufBody``.
    public func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        do {
            guard let body = parameters as? any ProtobufParameters else {
                throw ProtobufEncodingError(.noMessage, typeName: "\(Parameters.self)")
            }
            request.httpBody = try bytes(of: body.message)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        if request.headers["Content-Type"] == nil { request.headers.update(.contentType(contentType)) }
        return request
    }

    private func bytes(of message: some Message) throws -> Data {
        switch format {
        case .binary: try message.serializedBytes(options: binary)
        case .json: try message.jsonUTF8Bytes(options: json)
        }
    }
}

extension ParameterEncoder where Self == ProtobufParameterEncoder {
    /// An encoder that writes messages in the binary format.
    public static var protobuf: ProtobufParameterEncoder { ProtobufParameterEncoder() }

    /// Returns an encoder that writes messages.
    ///
    /// - Parameters:
    ///   - format: The format of messages. The default is the binary format.
    ///   - contentType: The content type to set if the request has none. The default, nil, means `application/x-protobuf`, or
    ///     `application/json` for JSON.
    public static func protobuf(
        format: ProtobufFormat = .binary, contentType: String? = nil
    ) -> ProtobufParameterEncoder {
        ProtobufParameterEncoder(format: format, contentType: contentType)
    }
}

// MARK: - Messages as parameters

/// A Protocol Buffers message as request parameters for ``ProtobufParameterEncoder``. It wraps the message, because parameters
/// must be `Encodable` and messages aren't.
///
/// `AF.request(url, method: .post, protobuf: message)` wraps the message automatically.
public struct ProtobufBody<M: Message>: Encodable, Sendable {
    /// The message.
    public var message: M

    /// Creates parameters from a message.
    public init(_ message: M) { self.message = message }

    /// Always throws an error, because only a ``ProtobufParameterEncoder`` can encode messages.
    ///
    /// - Throws: A ``ProtobufEncodingError``.
    public func encode(to encoder: any Encoder) throws {
        throw ProtobufEncodingError(.otherEncoder, typeName: M.protoMessageName)
    }
}

/// Parameters that are a message of any type.
protocol ProtobufParameters {
    associatedtype M: Message
    var message: M { get }
}

extension ProtobufBody: ProtobufParameters {}

/// An error for parameters that can't be encoded as a message. It omits their content, because errors are often logged.
public struct ProtobufEncodingError: Error, Hashable, Sendable {
    /// The cause of an error.
    public enum Reason: Hashable, Sendable {
        /// The parameters of a ``ProtobufParameterEncoder`` aren't a ``ProtobufBody``.
        case noMessage
        /// The encoder for a message isn't a ``ProtobufParameterEncoder``.
        case otherEncoder
    }

    /// The cause of the error.
    public let reason: Reason
    /// The type of the parameters, or the full name of the message's type, such as `google.protobuf.Timestamp`.
    public let typeName: String

    /// Creates an error.
    public init(_ reason: Reason, typeName: String) {
        self.reason = reason
        self.typeName = typeName
    }
}

extension ProtobufEncodingError: LocalizedError, CustomStringConvertible {
    /// A description of the cause and a possible solution.
    public var description: String {
        switch reason {
        case .noMessage: "\(typeName) is not a Protocol Buffers message. Pass a ProtobufBody."
        case .otherEncoder:
            "Only a ProtobufParameterEncoder can encode the message \(typeName). Pass the encoder .protobuf."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - Sessions

extension Session {
    /// Creates a request with a Protocol Buffers message as its body.
    ///
    /// The request is sent when `resume()` or its first handler starts it. Errors in creating the request or encoding the
    /// message are reported to its handlers.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - method: The method. The default is POST.
    ///   - message: The message.
    ///   - encoder: The encoder for the message. The default is the binary format with the content type `application/x-protobuf`.
    ///   - headers: The header fields. To request a message in response, use ``AfarCore/HTTPHeader/acceptProtobuf``.
    ///   - interceptor: The interceptor that adapts and retries this request.
    ///   - shouldAutomaticallyResume: Whether handlers start the request. The default is nil, which uses the session's
    ///     `startRequestsImmediately`.
    ///   - requestModifier: A closure that changes the `URLRequest` before the message is encoded.
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

    /// Creates a stream request with a Protocol Buffers message as its body. It delivers the response's body as it arrives.
    ///
    /// The request is sent when `resume()` or its first handler starts it. Errors in creating the request or encoding the
    /// message are reported to its handlers.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - method: The method. The default is POST.
    ///   - message: The message.
    ///   - encoder: The encoder for the message. The default is the binary format with the content type `application/x-protobuf`.
    ///   - headers: The header fields. To request messages in response, use ``AfarCore/HTTPHeader/acceptProtobuf``.
    ///   - automaticallyCancelOnStreamError: Whether an error in the stream cancels the request. The default is false.
    ///   - interceptor: The interceptor that adapts and retries this request.
    ///   - shouldAutomaticallyResume: Whether handlers start the request. The default is nil, which uses the session's
    ///     `startRequestsImmediately`.
    ///   - requestModifier: A closure that changes the `URLRequest` before the message is encoded.
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

// MARK: - Headers

extension HTTPHeader {
    /// An `Accept` header that requests Protocol Buffers messages and prefers the binary format to JSON.
    public static var acceptProtobuf: HTTPHeader {
        .accept(
            "application/x-protobuf, application/protobuf, application/vnd.google.protobuf, application/json;q=0.5")
    }
}
