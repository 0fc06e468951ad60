public import AfarCore
import Foundation
public import SwiftProtobuf

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
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
