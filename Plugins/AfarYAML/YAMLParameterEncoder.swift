public import AfarCore
import Foundation
import Yams

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An encoder that writes an `Encodable` value as a YAML body.
public struct YAMLParameterEncoder: ParameterEncoder {
    /// A Boolean value that indicates whether keys are sorted, so that equal values have equal bodies.
    public var sortsKeys: Bool

    /// Creates an encoder.
    ///
    /// - Parameter sortsKeys: Whether keys are sorted. The default is false.
    public init(sortsKeys: Bool = false) { self.sortsKeys = sortsKeys }

    /// Returns the request with the parameters as its body. Sets the content type `application/yaml` (RFC 9512) unless the request has
    /// one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` if the value can't be encoded.
    public func encode<Parameters: Encodable>(
        _ parameters: Parameters?, into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        var request = request
        let encoder = YAMLEncoder()
        encoder.options.sortKeys = sortsKeys
        encoder.options.allowUnicode = true
        do {
            request.httpBody = Data(try encoder.encode(parameters).utf8)
        } catch {
            throw AFError.parameterEncoderFailed(reason: .encoderFailed(error: error))
        }
        if request.headers["Content-Type"] == nil { request.headers.update(.contentType("application/yaml")) }
        return request
    }
}

extension ParameterEncoder where Self == YAMLParameterEncoder {
    /// An encoder that writes YAML bodies.
    public static var yaml: YAMLParameterEncoder { YAMLParameterEncoder() }

    /// Returns an encoder that writes YAML bodies.
    ///
    /// - Parameter sortsKeys: Whether keys are sorted.
    public static func yaml(sortsKeys: Bool) -> YAMLParameterEncoder { YAMLParameterEncoder(sortsKeys: sortsKeys) }
}
