public import AfarCore
public import Foundation
public import SwiftProtobuf

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A message of Protocol Buffers, in a ``ProtobufBody``, as a body.
public struct ProtobufParameterEncoder: ParameterEncoder {
    /// How messages are written.
    public var format: ProtobufFormat
    /// The content type, set unless the request has one.
    public var contentType: String
    /// How the binary format is written: whether equal messages give equal bytes, which maps may not otherwise.
    public var binary = BinaryEncodingOptions()
    /// How JSON is written.
    public var json = JSONEncodingOptions()

    /// Makes an encoder.
    ///
    /// - Parameters:
    ///   - format: How messages are written. The default is the binary format.
    ///   - contentType: The content type, set unless the request has one. The default, nil, is `application/x-protobuf`, and
    ///     for JSON `application/json`.
    public init(format: ProtobufFormat = .binary, contentType: String? = nil) {
        self.format = format
        self.contentType = contentType ?? format.contentType
    }

    /// The request with the message as its body.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` with swift-protobuf's error for a message that lacks required fields, and
    ///   with a ``ProtobufEncodingError`` for parameters that are no ``ProtobufBody``.
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
    /// An encoder of messages in the binary format.
    public static var protobuf: ProtobufParameterEncoder { ProtobufParameterEncoder() }

    /// An encoder of messages.
    ///
    /// - Parameters:
    ///   - format: How messages are written. The default is the binary format.
    ///   - contentType: The content type, set unless the request has one. The default, nil, is `application/x-protobuf`, and
    ///     for JSON `application/json`.
    public static func protobuf(
        format: ProtobufFormat = .binary, contentType: String? = nil
    ) -> ProtobufParameterEncoder {
        ProtobufParameterEncoder(format: format, contentType: contentType)
    }
}

// MARK: - Messages as parameters

/// A message of Protocol Buffers as the parameters of a request, for ``ProtobufParameterEncoder``: messages are not
/// `Encodable`, which parameters must be.
///
/// `AF.request(url, method: .post, protobuf: message)` makes one by itself.
public struct ProtobufBody<M: Message>: Encodable, Sendable {
    /// The message.
    public var message: M

    /// Makes parameters of a message.
    public init(_ message: M) { self.message = message }

    /// Refuses: only a ``ProtobufParameterEncoder`` can write messages.
    ///
    /// - Throws: A ``ProtobufEncodingError``.
    public func encode(to encoder: any Encoder) throws {
        throw ProtobufEncodingError(.otherEncoder, typeName: M.protoMessageName)
    }
}

/// Parameters that are a message, whatever its type.
protocol ProtobufParameters {
    associatedtype M: Message
    var message: M { get }
}

extension ProtobufBody: ProtobufParameters {}

/// Parameters that cannot be written as they should. Their content is not in the error, which may end in a log.
public struct ProtobufEncodingError: Error, Hashable, Sendable {
    /// What was wrong.
    public enum Reason: Hashable, Sendable {
        /// The parameters of a ``ProtobufParameterEncoder`` are no ``ProtobufBody``.
        case noMessage
        /// Another encoder than a ``ProtobufParameterEncoder`` was to write a message.
        case otherEncoder
    }

    /// What was wrong.
    public let reason: Reason
    /// The type of the parameters, or the full name of the message's type, `google.protobuf.Timestamp` say.
    public let typeName: String

    /// Makes an error.
    public init(_ reason: Reason, typeName: String) {
        self.reason = reason
        self.typeName = typeName
    }
}

extension ProtobufEncodingError: LocalizedError, CustomStringConvertible {
    /// What was wrong, and what can be done.
    public var description: String {
        switch reason {
        case .noMessage: "\(typeName) is no message of Protocol Buffers. Pass a ProtobufBody."
        case .otherEncoder:
            "The message \(typeName) can be written by a ProtobufParameterEncoder only. Pass the encoder .protobuf."
        }
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

// MARK: - Sessions

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

// MARK: - Headers

extension HTTPHeader {
    /// An `Accept` header for messages of Protocol Buffers: in the binary format, or else in JSON.
    public static var acceptProtobuf: HTTPHeader {
        .accept(
            "application/x-protobuf, application/protobuf, application/vnd.google.protobuf, application/json;q=0.5")
    }
}
