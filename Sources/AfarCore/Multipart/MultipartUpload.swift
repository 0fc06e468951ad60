import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A form as the body of a request.
struct MultipartUpload: UploadConvertible, WrittenURLConvertible {
    let form: MultipartFormData
    /// The maximum length of an encoded form that is held in memory.
    let encodingMemoryThreshold: UInt64
    let request: any URLRequestConvertible

    var writtenURL: String? { request.writtenURL }

    func createUploadable() throws -> UploadRequest.Uploadable { try createUploadable {} }

    /// Returns the encoded form.
    ///
    /// - Parameter checkpoint: Called before each piece is encoded. If it throws, encoding ends with that error.
    func createUploadable(checkpoint: @escaping @Sendable () throws -> Void) throws -> UploadRequest.Uploadable {
        var encoder = try form.encoder()
        encoder.checkpoint = checkpoint
        guard encoder.length > encodingMemoryThreshold else { return .data(try encoder.data()) }
        let file = try FormFile.temporary()
        try file.fill { try encoder.write(to: $0) }
        return .file(file.url, shouldRemove: true)
    }

    func asURLRequest() throws -> URLRequest {
        var urlRequest = try request.asURLRequest()
        let contentType = HTTPHeader.contentType(form.contentType)
        try contentType.validate()
        urlRequest.setValue(contentType.value, forHTTPHeaderField: contentType.name)
        return urlRequest
    }
}
