package import Foundation
package import HTTPTypes

// What transports need that answer an exchange by themselves.
extension Exchange {
    /// All header fields that are sent: the request's own, and the default ones that it does not have.
    package var fields: HTTPFields {
        var fields = request.headerFields
        for field in options.defaultFields.fields where !request.headerFields.contains(field.name) {
            fields.append(field)
        }
        return fields
    }

    /// The whole body of the request.
    ///
    /// - Parameter tell: Called as often as bytes were read, with how many there are in all so far.
    /// - Throws: A ``TransportError`` of the code ``TransportError/Code-swift.struct/requestBodyFailed``.
    package func collectBody(_ tell: (Int) async -> Void) async throws -> Data {
        func failure(_ message: String, _ cause: (any Error)? = nil) -> TransportError {
            TransportError(.requestBodyFailed, phase: .sending, url: url, message: message, underlying: cause)
        }
        var bytes = Data()
        switch body {
        case .none: return bytes
        case .data(let data): bytes = data
        case .file(let url):
            do { bytes = try Data(contentsOf: url) } catch { throw failure("the file could not be read", error) }
        case .stream(let stream):
            let read = stream.reader()
            do {
                while let chunk = try await read() {
                    bytes.append(chunk)
                    await tell(bytes.count)
                }
            } catch { throw failure("the body's reader failed", error) }
            if let length = stream.length, length != Int64(bytes.count) {
                throw failure("the body has \(bytes.count) bytes, not \(length) as it said")
            }
            return bytes
        }
        await tell(bytes.count)
        return bytes
    }
}

extension TransportCapabilities {
    /// All that a transport can do which answers by itself, and reaches no server.
    package static func withoutNetwork(name: String) -> TransportCapabilities {
        TransportCapabilities(
            name: name,
            features: [
                .fileUpload, .streamedUpload, .fileDelivery, .streamedDelivery, .backpressure, .suspension, .metrics,
                .connectTimeout, .minimumTLSVersion, .informationalResponses, .trailers, .anyMethod,
                // There is no server to be trusted, nor one to show a certificate to.
                .serverTrust, .clientIdentity,
            ]
        )
    }
}
