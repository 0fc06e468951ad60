public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A `multipart/form-data` form (RFC 7578): fields, files and streams, in the order in which they were appended.
///
/// Appending never throws. The first error is stored. ``encode()`` and ``writeEncodedData(to:)`` throw it, and a request that
/// uses the form reports it to its handlers. Files and streams are read in small pieces, and only when the form is encoded. A
/// stream can be encoded only once. All members can be used from any thread.
open class MultipartFormData: @unchecked Sendable {
    // @unchecked because a lock protects all mutable state.

    private struct State {
        var parts: [MultipartPart] = []
        var failure: (any Error)?
        var contentType: String
    }

    /// The maximum length of an encoded form that is uploaded from memory, in bytes: 10 MB. A longer form is written to a
    /// temporary file.
    public static let encodingMemoryThreshold: UInt64 = 10_000_000

    /// The boundary between the parts. It must not occur in the parts.
    public let boundary: String
    private let fileManager: FileManager
    private let state: Locked<State>

    /// Creates a form without parts.
    ///
    /// - Parameters:
    ///   - fileManager: The file manager that reports the lengths of files.
    ///   - boundary: The boundary between the parts. If nil, a random boundary is used, which is the default and recommended. If
    ///     RFC 2046, section 5.1.1, doesn't allow the boundary, a random boundary is used and encoding throws
    ///     ``AFError/InvalidForm/boundaryInvalid(_:)``.
    public init(fileManager: FileManager = .default, boundary: String? = nil) {
        let valid = boundary.flatMap { MultipartBoundary.isValid($0) ? $0 : nil }
        let used = valid ?? MultipartBoundary.random()
        self.boundary = used
        self.fileManager = fileManager
        // RFC 2045, section 5.1, requires quotes unless the value is a token.
        let parameter = used.isHTTPToken ? used : "\"\(used)\""
        state = Locked(State(contentType: "multipart/form-data; boundary=\(parameter)"))
        if valid == nil, let boundary {
            let failure = AFError.multipartEncodingFailed(
                reason: .outputStreamWriteFailed(error: AFError.InvalidForm.boundaryInvalid(boundary)))
            state.withLock { $0.failure = failure }
        }
    }

    /// The value of the encoded form's `Content-Type` header, including the boundary.
    open var contentType: String {
        get { state.withLock { $0.contentType } }
        set { state.withLock { $0.contentType = newValue } }
    }

    /// The total number of bytes of the parts' contents, without their headers and the boundaries.
    public var contentLength: UInt64 {
        state.withLock { $0.parts.reduce(0) { $0.addingClamped($1.length) } }
    }

    // MARK: Appending

    /// Appends data.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - name: The field's name.
    ///   - fileName: The part's file name. If nil, the part isn't a file.
    ///   - mimeType: The content type. If nil, a field has no type, and a file has the type that its name suggests.
    public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
        append {
            try MultipartPart(
                headers: MultipartPart.headers(name: name, fileName: fileName, mimeType: mimeType),
                content: .data(data), length: UInt64(data.count))
        }
    }

    /// Appends a file under its own name, with the content type that the name suggests.
    ///
    /// The file's length is read immediately. If the file has another length when the form is encoded, encoding fails.
    public func append(_ fileURL: URL, withName name: String) {
        append(fileURL, withName: name, fileName: nil, mimeType: nil)
    }

    /// Appends a file. Its length is read immediately. If the file has another length when the form is encoded, encoding fails.
    public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
        append(fileURL, withName: name, fileName: .some(fileName), mimeType: mimeType)
    }

    /// Appends the content of a stream.
    ///
    /// Don't use the stream afterward: the form opens, reads and closes it during encoding. Bytes beyond the specified length
    /// aren't read. If the stream has fewer bytes, encoding fails with ``AFError/UnexpectedInputStreamLength``.
    public func append(
        _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
    ) {
        append {
            try MultipartPart(
                headers: MultipartPart.headers(name: name, fileName: fileName, mimeType: mimeType),
                content: .stream(SingleUseStream(stream)), length: length)
        }
    }

    /// Appends the content of a stream with custom headers. The headers must include `Content-Disposition` with the field's
    /// name.
    ///
    /// Don't use the stream afterward. For the checks of its length, see ``append(_:withLength:name:fileName:mimeType:)``.
    public func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPHeaders) {
        append {
            try MultipartPart.validate(headers)
            return MultipartPart(headers: headers, content: .stream(SingleUseStream(stream)), length: length)
        }
    }

    private func append(_ fileURL: URL, withName name: String, fileName: String?, mimeType: String?) {
        append {
            let file = try PartFile(fileURL, needsName: fileName == nil, fileManager: fileManager)
            return try MultipartPart(
                headers: MultipartPart.headers(name: name, fileName: fileName ?? file.name, mimeType: mimeType),
                content: .file(fileURL), length: file.length)
        }
    }

    /// Stores a part, or the first error.
    private func append(_ makePart: () throws -> MultipartPart) {
        guard state.withLock({ $0.failure == nil }) else { return }
        let part = Result { try makePart() }
        state.withLock { [part] state in
            switch part {
            case .success(let part): state.parts.append(part)
            case .failure(let error): state.failure = state.failure ?? error
            }
        }
    }

    // MARK: Encoding

    /// Returns the encoded form in memory. Blocks the calling thread while files and streams are read.
    ///
    /// - Throws: `AFError.multipartEncodingFailed` if a part was invalid when it was appended or can't be read.
    public func encode() throws -> Data {
        try encoder().data()
    }

    /// Writes the encoded form into a new file. Blocks the calling thread, and holds only a piece of a file or stream in
    /// memory. If this method throws, no file is left behind.
    ///
    /// - Parameter fileURL: The location of the new file. The file must not exist.
    /// - Throws: `AFError.multipartEncodingFailed` if a part was invalid when it was appended or can't be read, or if the file
    ///   can't be written.
    public func writeEncodedData(to fileURL: URL) throws {
        let encoder = try encoder()
        let file = try FormFile(at: fileURL)
        try file.fill { try encoder.write(to: $0) }
    }

    /// Returns an encoder for the parts appended so far.
    func encoder() throws -> MultipartEncoder {
        let (parts, failure) = state.withLock { ($0.parts, $0.failure) }
        if let failure { throw failure }
        return MultipartEncoder(boundary: boundary, parts: parts)
    }
}

// MARK: - Uploads

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

// MARK: - Files

/// A new file for an encoded form. The file is removed if writing fails.
struct FormFile {
    let url: URL
    private let descriptor: Int32

    /// Creates a file. Fails if a file already exists.
    init(at url: URL, permissions: mode_t = 0o666) throws {
        guard url.isFileURL else { throw AFError.multipartEncodingFailed(reason: .outputStreamURLInvalid(url: url)) }
        self.url = url
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        guard descriptor >= 0 else {
            throw AFError.multipartEncodingFailed(
                reason: errno == EEXIST
                    ? .outputStreamFileAlreadyExists(at: url) : .outputStreamCreationFailed(for: url))
        }
    }

    /// Creates a file in the directory for temporary files (`TMPDIR`) that only this user can read.
    static func temporary() throws -> FormFile {
        let name = "afar-form-\(UUID().uuidString)"
        return try FormFile(at: FileManager.default.temporaryDirectory.appendingPathComponent(name), permissions: 0o600)
    }

    /// Writes the content and closes the file. If that fails, removes the file.
    func fill(_ write: (_ descriptor: Int32) throws -> Void) throws {
        var failure: (any Error)?
        do { try write(descriptor) } catch { failure = error }
        // Some file systems report a full disk only here.
        if close(descriptor) != 0, failure == nil {
            failure = AFError.multipartEncodingFailed(reason: .outputStreamWriteFailed(error: POSIXError.last))
        }
        guard let failure else { return }
        unlink(url.path)
        throw failure
    }
}

/// The properties that a form reads from a file when the file is appended.
struct PartFile {
    /// The last component of the file's path.
    let name: String
    /// The file's length in bytes.
    let length: UInt64

    /// Reads the properties of a file.
    init(_ url: URL, needsName: Bool, fileManager: FileManager) throws {
        name = url.lastPathComponent
        guard url.isFileURL else { throw Self.refusal(.bodyPartURLInvalid(url: url)) }
        guard !needsName || !(name.isEmpty || name == "/") else {
            throw Self.refusal(.bodyPartFilenameInvalid(in: url))
        }
        try Self.checkKind(of: url)
        length = try Self.length(of: url, fileManager)
    }

    private static func refusal(_ reason: AFError.MultipartEncodingFailureReason) -> AFError {
        .multipartEncodingFailed(reason: reason)
    }

    private static func checkKind(of url: URL) throws {
        var status = stat()
        guard stat(url.path, &status) == 0 else {
            throw refusal(.bodyPartFileNotReachableWithError(atURL: url, error: CocoaError(.last, reading: url)))
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw refusal(.bodyPartFileIsDirectory(at: url))
        default: throw refusal(.bodyPartFileSizeNotAvailable(at: url))
        }
    }

    private static func length(of url: URL, _ fileManager: FileManager) throws -> UInt64 {
        let size: Any?
        do {
            // Resolve links, because the file manager reports a link's own length.
            let path = try realPath(of: url)
            size = try fileManager.attributesOfItem(atPath: path)[.size]
        } catch {
            throw refusal(.bodyPartFileSizeQueryFailedWithError(forURL: url, error: error))
        }
        guard let size = size as? NSNumber else { throw refusal(.bodyPartFileSizeNotAvailable(at: url)) }
        return size.uint64Value
    }

    private static func realPath(of url: URL) throws -> String {
        guard let path = realpath(url.path, nil) else { throw POSIXError.last }
        defer { free(path) }
        return String(cString: path)
    }
}

extension CocoaError {
    /// Creates Foundation's error for a file that can't be read.
    fileprivate init(_ cause: POSIXError, reading url: URL) {
        let code: Code =
            switch cause.code {
            case .ENOENT, .ENOTDIR: .fileReadNoSuchFile
            case .EACCES, .EPERM: .fileReadNoPermission
            case .ENAMETOOLONG: .fileReadInvalidFileName
            default: .fileReadUnknown
            }
        self.init(
            code,
            userInfo: [
                NSLocalizedDescriptionKey: String(cString: strerror(cause.code.rawValue)), NSURLErrorKey: url,
                NSFilePathErrorKey: url.path, NSUnderlyingErrorKey: cause,
            ])
    }
}
