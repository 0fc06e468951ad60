#if canImport(FoundationNetworking)
    import FoundationNetworking
#else
    import Foundation
#endif

/// Makes the body of an ``UploadRequest``.
public protocol UploadableConvertible: Sendable {
    /// The body. It is asked for once in a request, in the request's own task (or on the session's
    /// ``Session/requestQueue``), after the first `URLRequest` was made and adapted.
    ///
    /// - Throws: Anything; what is no ``AFError`` becomes ``AFError/createUploadableFailed(error:)``.
    func createUploadable() throws -> UploadRequest.Uploadable
}

extension UploadRequest.Uploadable: UploadableConvertible {
    /// The value itself.
    public func createUploadable() throws -> UploadRequest.Uploadable { self }
}

/// Makes both a `URLRequest` and the body that goes with it.
public protocol UploadConvertible: UploadableConvertible & URLRequestConvertible {}

/// A body and a request that know nothing of each other.
struct Upload: UploadConvertible, WrittenURLConvertible {
    private let uploadable: UploadRequest.Uploadable
    private let request: any URLRequestConvertible

    init(_ uploadable: UploadRequest.Uploadable, with request: any URLRequestConvertible) {
        self.uploadable = uploadable
        self.request = request
    }

    var writtenURL: String? { request.writtenURL }

    func createUploadable() throws -> UploadRequest.Uploadable { uploadable }
    func asURLRequest() throws -> URLRequest { try request.asURLRequest() }
}
