import AfarCore
import AfarTransport
import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// tus 1.0 with the extensions creation, checksum, termination, expiration and concatenation.
struct TusDialect: UploadDialect {
    let client: UploadClient
    let options: ResumableUploadOptions
    /// Whether the uploads are partial uploads, which a final upload concatenates.
    let isPartial: Bool

    private func message(_ method: HTTPMethod, _ url: URL, _ headers: HTTPHeaders = [:], _ body: Segment? = nil)
        -> UploadClient.Message
    {
        var headers = headers
        headers.update(name: "Tus-Resumable", value: "1.0.0")
        var method = method
        if options.overridesMethods, method == .patch || method == .delete {
            headers.update(name: "X-HTTP-Method-Override", value: method.rawValue)
            method = .post
        }
        return UploadClient.Message(method: method, url: url, headers: headers, body: body)
    }

    private func refusal(_ reply: UploadClient.Reply, to method: HTTPMethod, ofUpload: Bool = true) -> any Error {
        guard reply.status == 412 else { return client.refusal(reply, to: method, ofUpload: ofUpload) }
        let versions = (reply.field("Tus-Version") ?? "").split(separator: ",").prefix(16)
        return ResumableUploadError.unsupportedVersion(
            versions.map { $0.filter { $0.isASCII && ($0.isNumber || $0 == ".") } }.filter { !$0.isEmpty })
    }

    private func created(_ reply: UploadClient.Reply) throws -> URL {
        guard reply.status == 201 else { throw refusal(reply, to: .post, ofUpload: false) }
        return try client.endpoint.uploadURL(
            reply.field("Location"), relativeTo: reply.response.url ?? client.endpoint.url)
    }

    func create(
        for source: any UploadSource, didFindURL: @escaping @Sendable (URL) throws -> Void,
        didSend: @escaping @Sendable (Int64) -> Void
    ) async throws -> UploadState {
        var headers: HTTPHeaders = [:]
        if let length = source.length {
            headers.update(name: "Upload-Length", value: String(length))
        } else {
            headers.update(name: "Upload-Defer-Length", value: "1")
        }
        if isPartial {
            headers.update(name: "Upload-Concat", value: "partial")
        } else {
            addMetadata(to: &headers)
        }
        var message = message(.post, client.endpoint.url, headers)
        message.createsUpload = true
        let reply = try await client.send(message)
        try didFindURL(try created(reply))
        return UploadState(offset: 0, expirationDate: expirationDate(reply), reply: reply)
    }

    /// Joins parts into a final upload, and returns its URL.
    func join(_ parts: [URL]) async throws -> (URL, UploadClient.Reply) {
        let locations = parts.map { part in
            guard client.endpoint.hasSameOrigin(part) else { return part.absoluteString }
            let components = URLComponents(url: part, resolvingAgainstBaseURL: true)
            return (components?.percentEncodedPath ?? "") + (components?.percentEncodedQuery.map { "?\($0)" } ?? "")
        }
        var headers: HTTPHeaders = ["Upload-Concat": "final;" + locations.joined(separator: " ")]
        addMetadata(to: &headers)
        let reply = try await client.send(message(.post, client.endpoint.url, headers))
        return (try created(reply), reply)
    }

    private func addMetadata(to headers: inout HTTPHeaders) {
        guard !options.metadata.isEmpty else { return }
        let pairs = options.metadata.sorted { $0.key < $1.key }
            .map { $1.isEmpty ? $0 : "\($0) \(Data($1.utf8).base64EncodedString())" }
        headers.update(name: "Upload-Metadata", value: pairs.joined(separator: ","))
    }

    func state(of url: URL, source: any UploadSource) async throws -> UploadState {
        let reply = try await client.send(message(.head, url))
        guard (200..<300).contains(reply.status) else { throw refusal(reply, to: .head) }
        if let length = source.length, let text = reply.field("Upload-Length") {
            guard let serverLength = UploadFields.integer(text) else {
                throw ResumableUploadError.invalidOffset("comes with an invalid Upload-Length")
            }
            guard serverLength == length else {
                throw ResumableUploadError.lengthMismatch(expected: length, server: serverLength)
            }
        }
        let offset = try offset(reply)
        // The length of a sequence of chunks is sent with its last bytes, so an upload without a length isn't complete.
        let hasLength = reply.field("Upload-Length").flatMap(UploadFields.integer) == offset
        return UploadState(
            offset: offset, isComplete: hasLength && source.length == offset ? true : nil,
            expirationDate: expirationDate(reply), reply: reply)
    }

    func append(
        _ segment: Segment, of source: any UploadSource, to url: URL, didSend: @escaping @Sendable (Int64) -> Void
    ) async throws -> UploadState {
        var headers: HTTPHeaders = [
            "Content-Type": "application/offset+octet-stream", "Upload-Offset": String(segment.offset),
        ]
        if options.sendsChecksums {
            headers.update(
                name: "Upload-Checksum", value: "sha1 \(try await segment.checksum().base64EncodedString())")
        }
        if segment.isLast, source is ChunkSource {
            headers.update(name: "Upload-Length", value: String(segment.end))
        }
        let reply = try await client.send(message(.patch, url, headers, segment), didSend: didSend)
        guard (200..<300).contains(reply.status) else { throw refusal(reply, to: .patch) }
        return UploadState(offset: try offset(reply), expirationDate: expirationDate(reply), reply: reply)
    }

    func delete(_ url: URL) async throws {
        let reply = try await client.send(message(.delete, url))
        guard (200..<300).contains(reply.status) else { throw refusal(reply, to: .delete) }
    }

    private func offset(_ reply: UploadClient.Reply) throws(ResumableUploadError) -> Int64 {
        guard let text = reply.field("Upload-Offset") else { throw .invalidOffset("is missing") }
        guard let offset = UploadFields.integer(text) else { throw .invalidOffset("isn't a number in the valid range") }
        return offset
    }

    private func expirationDate(_ reply: UploadClient.Reply) -> Date? {
        HTTPField.Name("Upload-Expires").flatMap { reply.head.date(for: $0) }
    }
}
