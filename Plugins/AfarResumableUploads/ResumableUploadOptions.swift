public import AfarCore
public import Foundation

/// A protocol for uploads that can be resumed.
public enum ResumableUploadProtocol: Sendable, Hashable {
    /// tus 1.0 (https://tus.io/protocols/resumable-upload).
    case tus
    /// The Internet-Draft "Resumable Uploads for HTTP" (draft-ietf-httpbis-resumable-upload). Servers support one or a few interop
    /// versions.
    case draft(DraftVersion)

    /// An interop version of the draft.
    ///
    /// Versions 1, 2 and 4 aren't supported, and version 7 differs from version 8 only in its number and in the names of limits.
    public enum DraftVersion: Int, Sendable, Hashable, CaseIterable, Comparable {
        /// Draft 01, with the field `Upload-Incomplete`.
        case v3 = 3
        /// Draft 03, with the field `Upload-Complete`.
        case v5 = 5
        /// Drafts 04 to 06, with the media type `application/partial-upload`.
        case v6 = 6
        /// Draft 07.
        case v7 = 7
        /// Drafts 08 and later.
        case v8 = 8

        /// The newest version that this module supports.
        public static let latest = DraftVersion.v8

        /// Returns a Boolean value that indicates whether the first version is older than the second.
        public static func < (first: Self, second: Self) -> Bool { first.rawValue < second.rawValue }
    }

    /// The protocol's name in a record.
    var name: String {
        switch self {
        case .tus: "tus"
        case .draft(let version): "draft-\(version.rawValue)"
        }
    }
}

/// The options of a resumable upload.
public struct ResumableUploadOptions: Sendable {
    /// The location of the record that another process, or a later upload in this process, can resume from. The default is nil: the upload
    /// survives interruptions only while its process runs.
    ///
    /// If the file exists, the upload is resumed. The record contains the URLs of the upload, without user name and password, and the
    /// file's size, modification time and inode. It contains no request headers. Only its owner can read it (mode 0600), because anyone
    /// with the URL of an upload can often change it. While the upload runs, the record is locked (`flock`) with a second file, whose name
    /// ends in `.lock`. After success, and after a cancellation that deletes the upload on the server, both files are removed.
    public var record: URL?

    /// The maximum number of bytes in one request. The default is nil, which sends the rest of the file in one request. A sequence of
    /// chunks is sent in pieces of this size, by default 4 MiB, and the current piece is kept in memory.
    public var chunkSize: Int64?

    /// For tus: information about the file, such as `["filename": "report.pdf"]`, for the field `Upload-Metadata`. Names must be ASCII
    /// without spaces and commas.
    public var metadata: [String: String] = [:]

    /// For tus: whether each request has an `Upload-Checksum` with SHA-1, so that the server refuses bytes that were changed in transit.
    /// The default is false. Without a ``chunkSize``, requests then have at most 8 MiB, because a checksum is sent before the bytes.
    public var sendsChecksums = false

    /// For tus: the number of parts of the file that are sent at the same time. The server then joins them (the extension
    /// "concatenation"). The default is 1.
    public var parallelParts = 1

    /// For tus: whether PATCH and DELETE are sent as POST with the field `X-HTTP-Method-Override`, for networks that block these
    /// methods. The default is false.
    public var overridesMethods = false

    /// For the draft: whether the upload is created by a request without content, before the file is sent. The default is false: the
    /// request that creates the upload also sends the file, so that servers without support for the protocol accept the file, too. The
    /// upload is then resumable once the server has sent a 104 response.
    public var createsBeforeSending = false

    /// For the draft: the method of the request that creates the upload. The default is POST.
    public var method = HTTPMethod.post

    /// Whether the origin of the upload's URL can differ from the origin of the request that created the upload. The default is false. If
    /// true, requests to another origin have no headers with credentials and no password. If the URL of the request that created the upload
    /// is secure, the upload's URL must be secure too.
    public var allowsOtherOrigins = false

    /// The number of consecutive attempts without progress after which the upload fails. The default is 8. At least 1 attempt is made.
    public var maximumAttemptsWithoutProgress = 8

    /// The maximum total number of interruptions. After more interruptions, the upload fails even if it makes progress. The default is
    /// 1,000.
    public var maximumInterruptions = 1_000

    /// The delay after the first attempt without progress. Each further attempt doubles it. Delays use the time source of the session's
    /// configuration. The default is 0.5 seconds.
    public var firstDelay = Duration.milliseconds(500)

    /// The longest delay, which also limits the `Retry-After` of a response. The default is 60 seconds.
    public var maximumDelay = Duration.seconds(60)

    /// Creates options with default values.
    public init() {}

    /// Creates options with a record.
    ///
    /// - Parameter record: See ``record``.
    public init(record: URL) { self.record = record }
}

extension ResumableUploadOptions {
    /// The number of bytes in one request with a checksum.
    private static let checksummedChunkSize: Int64 = 8 << 20
    /// The number of bytes of a sequence that are kept in memory.
    private static let pieceSize: Int64 = 4 << 20

    /// The maximum number of bytes in one request, or nil for no limit.
    func requestLimit(isFile: Bool) -> Int64? {
        if let chunkSize { return chunkSize }
        if !isFile { return Self.pieceSize }
        return sendsChecksums ? Self.checksummedChunkSize : nil
    }

    func check(for uploadProtocol: ResumableUploadProtocol, isFile: Bool) throws(ResumableUploadError) {
        if let chunkSize, chunkSize < 1 { throw .invalidOptions("chunkSize must be at least 1.") }
        guard (1...100).contains(parallelParts) else {
            throw .invalidOptions("parallelParts must be a number from 1 to 100.")
        }
        guard isFile || record == nil else {
            throw .invalidOptions("Only the upload of a file can have a record. Write the chunks to a file first.")
        }
        guard isFile || parallelParts == 1 else {
            throw .invalidOptions("Only a file can be sent in parallel parts.")
        }
        guard let chunkSize = requestLimit(isFile: isFile), isFile || chunkSize <= 1 << 30 else {
            if isFile { return try checkProtocol(uploadProtocol) }
            throw .invalidOptions("The chunkSize of a sequence can't exceed 1 GiB, because it is kept in memory.")
        }
        try checkProtocol(uploadProtocol)
    }

    private func checkProtocol(_ uploadProtocol: ResumableUploadProtocol) throws(ResumableUploadError) {
        switch uploadProtocol {
        case .tus:
            guard method == .post, !createsBeforeSending else {
                throw .invalidOptions(
                    "method and createsBeforeSending require the protocol draft. With tus, a POST without content always creates the upload."
                )
            }
            for name in metadata.keys {
                guard !name.isEmpty, name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ",") }) else {
                    throw .invalidOptions("A name in metadata is empty or has a character that isn't permitted.")
                }
            }
        case .draft:
            guard metadata.isEmpty, !sendsChecksums, parallelParts == 1, !overridesMethods else {
                throw .invalidOptions(
                    "metadata, sendsChecksums, parallelParts and overridesMethods require the protocol tus.")
            }
        }
    }
}
