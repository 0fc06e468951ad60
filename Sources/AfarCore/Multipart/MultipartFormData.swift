public import Foundation

/// A form of several parts, `multipart/form-data` as RFC 7578 has it: fields, files, streams, in the order appended.
///
/// Appending never throws: the first thing that is wrong is kept, and thrown by ``encode()`` and
/// ``writeEncodedData(to:)``, or told to the handlers of the request that the form was given to. Files and streams are
/// read in small pieces when the form is encoded, not before; a stream can be read by one encoding only. All members may
/// be used from any thread.
open class MultipartFormData: @unchecked Sendable {
    // Sendable because everything that changes is behind a lock.

    private struct State {
        var parts: [MultipartPart] = []
        var failure: (any Error)?
        var contentType: String
    }

    /// How long an encoded form may be to be held in memory while it is uploaded, in bytes: 10 MB. A longer one goes
    /// through a temporary file.
    public static let encodingMemoryThreshold: UInt64 = 10_000_000

    /// What stands between the parts. It must not occur in them.
    public let boundary: String
    private let fileManager: FileManager
    private let state: Locked<State>

    /// Makes a form without parts.
    ///
    /// - Parameters:
    ///   - fileManager: Tells the lengths of files.
    ///   - boundary: What stands between the parts; nil makes a random one, which is best. In the place of one that RFC
    ///     2046, section 5.1.1, does not allow there is a random one too, and encoding throws
    ///     ``AFError/MultipartEncodingFailureReason/boundaryInvalid(_:)``.
    public init(fileManager: FileManager = .default, boundary: String? = nil) {
        let valid = boundary.flatMap { MultipartBoundary($0) }
        let used = valid ?? .random()
        self.boundary = used.text
        self.fileManager = fileManager
        state = Locked(State(contentType: "multipart/form-data; boundary=\(used.parameterValue)"))
        if valid == nil, let boundary {
            let failure = AFError.multipartEncodingFailed(reason: .boundaryInvalid(boundary))
            state.withLock { $0.failure = failure }
        }
    }

    /// The value of the `Content-Type` header that goes with the encoded form; it names the boundary.
    open var contentType: String {
        get { state.withLock { $0.contentType } }
        set { state.withLock { $0.contentType = newValue } }
    }

    /// The number of bytes that the parts' contents have together, without their headers and what stands between them.
    public var contentLength: UInt64 {
        state.withLock { $0.parts.reduce(0) { $0.addingClamped($1.length) } }
    }

    // MARK: Appending

    /// Appends bytes.
    ///
    /// - Parameters:
    ///   - data: The content.
    ///   - name: The field's name.
    ///   - fileName: The file name to give it; nil makes it no file.
    ///   - mimeType: Its content type; nil names none for a field, and for a file the one that its name suggests.
    public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
        append {
            try MultipartPart(
                headers: MultipartPart.headers(name: name, fileName: fileName, mimeType: mimeType),
                content: .data(data), length: UInt64(data.count))
        }
    }

    /// Appends a file under its own name, with the content type that the name suggests.
    ///
    /// Its length is taken now; a file that has another when it is read fails the encoding.
    ///
    /// - Parameters:
    ///   - fileURL: Where the file is.
    ///   - name: The field's name.
    public func append(_ fileURL: URL, withName name: String) {
        append(fileURL, withName: name, fileName: nil, mimeType: nil)
    }

    /// Appends a file.
    ///
    /// Its length is taken now; a file that has another when it is read fails the encoding.
    ///
    /// - Parameters:
    ///   - fileURL: Where the file is.
    ///   - name: The field's name.
    ///   - fileName: The file name to give it.
    ///   - mimeType: Its content type.
    public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
        append(fileURL, withName: name, fileName: .some(fileName), mimeType: mimeType)
    }

    /// Appends what a stream holds.
    ///
    /// Hand the stream over: it is opened, read and closed when the form is encoded. Bytes beyond the announced length are
    /// not read; a stream that gives fewer fails the encoding with ``AFError/UnexpectedInputStreamLength``.
    ///
    /// - Parameters:
    ///   - stream: The content.
    ///   - length: How many of its bytes are sent.
    ///   - name: The field's name.
    ///   - fileName: The file name to give it.
    ///   - mimeType: Its content type.
    public func append(
        _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
    ) {
        append {
            try MultipartPart(
                headers: MultipartPart.headers(name: name, fileName: fileName, mimeType: mimeType),
                content: .stream(SingleUseStream(stream)), length: length)
        }
    }

    /// Appends what a stream holds, with headers of the caller's own. A form's part needs a `Content-Disposition` that
    /// names its field.
    ///
    /// Hand the stream over: it is opened, read and closed when the form is encoded. Bytes beyond the announced length are
    /// not read; a stream that gives fewer fails the encoding with ``AFError/UnexpectedInputStreamLength``.
    ///
    /// - Parameters:
    ///   - stream: The content.
    ///   - length: How many of its bytes are sent.
    ///   - headers: The part's headers, all of them.
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

    /// Keeps a part, or the first reason why there is none.
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

    /// The form as bytes, all in memory. It blocks the calling thread while files and streams are read.
    ///
    /// - Throws: `AFError.multipartEncodingFailed`: what was wrong with a part when it was appended, or why a part cannot
    ///   be read.
    public func encode() throws -> Data {
        try encoder().data()
    }

    /// Writes the form into a new file. It blocks the calling thread meanwhile, and holds no more than a piece of a file
    /// or stream in memory. When it throws, it leaves no file.
    ///
    /// - Parameter fileURL: Where the file is to be. There must be none.
    /// - Throws: `AFError.multipartEncodingFailed`: what was wrong with a part when it was appended, why a part cannot
    ///   be read, or why the file cannot be written.
    public func writeEncodedData(to fileURL: URL) throws {
        let encoder = try encoder()
        let file = try FormFile(at: fileURL)
        try file.fill { try encoder.write(to: $0) }
    }

    /// What writes the parts that were appended so far.
    func encoder() throws -> MultipartEncoder {
        let (parts, failure) = state.withLock { ($0.parts, $0.failure) }
        if let failure { throw failure }
        return MultipartEncoder(boundary: boundary, parts: parts)
    }
}
