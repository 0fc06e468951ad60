import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Lets Foundation's freshly made values cross from the request's task to the one that waits. Nobody else has them, so
/// that is safe, though their static type, `Any`, cannot say so.
struct SendableSerializer<Base: DataResponseSerializerProtocol>: DataResponseSerializerProtocol,
    DownloadResponseSerializerProtocol
where Base.SerializedObject == Any {
    let base: Base

    init(_ base: Base) { self.base = base }

    func serialize(_ input: SerializationInput) throws -> any Sendable {
        // Sendable is a marker: `Any` and `any Sendable` are laid out alike.
        unsafeBitCast(try base.serialize(input), to: (any Sendable).self)
    }

    func serialize(
        request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
    ) throws -> any Sendable {
        try serialize(SerializationInput(request: request, response: response, data: data, error: error))
    }
}
