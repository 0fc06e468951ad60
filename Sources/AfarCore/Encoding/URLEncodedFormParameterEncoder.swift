#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// An encoder that writes an `Encodable` value as a query: `key=value` pairs in the URL or in a form body.
///
/// The URL's existing query is unchanged. Added pairs are percent-encoded exactly once.
// @unchecked because the class is open, so the compiler can't check it. Its properties are immutable and Sendable.
open class URLEncodedFormParameterEncoder: @unchecked Sendable, ParameterEncoder {
    /// Where the parameters are written.
    public enum Destination: Sendable {
        /// The URL for GET, HEAD and DELETE; otherwise the body.
        case methodDependent
        /// The URL.
        case queryString
        /// The body.
        case httpBody

        func encodesParametersInURL(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method.prefersParametersInURL
            case .queryString: true
            case .httpBody: false
            }
        }
    }

    /// An encoder with default settings and the destination `methodDependent`.
    public static var `default`: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// The encoder that writes the pairs.
    public let encoder: URLEncodedFormEncoder

    /// Where the parameters are written.
    public let destination: Destination

    /// Creates an encoder.
    public init(encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(), destination: Destination = .methodDependent) {
        self.encoder = encoder
        self.destination = destination
    }

    /// Returns the request with the parameters in its query or body. With a body, sets a content type unless the request has one.
    ///
    /// - Throws: `AFError.parameterEncoderFailed` if the value can't be encoded or the request has no URL or method.
    open func encode<Parameters: Encodable>(
        _ parameters: Parameters?,
        into request: URLRequest
    ) throws -> URLRequest {
        guard let parameters else { return request }
        guard let url = request.url else { throw failure(.missingRequiredComponent(.url)) }
        guard let method = request.method else {
            throw failure(.missingRequiredComponent(.httpMethod(rawValue: request.httpMethod ?? "")))
        }
        var request = request
        do {
            let query: String = try encoder.encode(parameters)
            if destination.encodesParametersInURL(for: method) {
                request.url = try url.appendingQuery(query)
            } else {
                request.setBody(Data(query.utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8")
            }
        } catch {
            throw failure(.encoderFailed(error: error))
        }
        return request
    }

    private func failure(_ reason: AFError.ParameterEncoderFailureReason) -> AFError {
        .parameterEncoderFailed(reason: reason)
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// An encoder of queries with default settings and the destination `methodDependent`.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { URLEncodedFormParameterEncoder() }

    /// Returns an encoder of queries.
    ///
    /// - Parameters:
    ///   - encoder: The encoder that writes the pairs.
    ///   - destination: Where the pairs are written. The default is `methodDependent`.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}
