import AfarCore
import AfarTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The Internet-Draft "Resumable Uploads for HTTP". The comments name the sections of version 10.
struct DraftDialect: UploadDialect {
    let client: UploadClient
    let options: ResumableUploadOptions
    let version: ResumableUploadProtocol.DraftVersion

    /// Servers report progress with 1xx responses (section 4.2.2). Their number can exceed a session's default limit.
    private static let maximumInformationalResponses = 10_000
    private static let interopVersion = "Upload-Draft-Interop-Version"

    private func message(_ method: HTTPMethod, _ url: URL, _ headers: HTTPHeaders = [:], _ body: Segment? = nil)
        -> UploadClient.Message
    {
        var headers = headers
        headers.update(name: Self.interopVersion, value: String(version.rawValue))
        return UploadClient.Message(
            method: method, url: url, headers: headers, body: body,
            maximumInformationalResponses: Self.maximumInformationalResponses)
    }

    /// The field that specifies whether a request completes the upload (section 4.1.2).
    private func completeness(_ isComplete: Bool) -> HTTPHeaders {
        version >= .v5
            ? ["Upload-Complete": isComplete ? "?1" : "?0"] : ["Upload-Incomplete": isComplete ? "?0" : "?1"]
    }

    /// Returns whether the upload is complete according to a response, or nil if the response doesn't specify it. An invalid value is
    /// ignored (section 4.1.2).
    private func isComplete(_ reply: UploadClient.Reply) -> Bool? {
        version >= .v5
            ? reply.field("Upload-Complete").flatMap(UploadFields.booleanItem)
            : reply.field("Upload-Incomplete").flatMap(UploadFields.booleanItem).map { !$0 }
    }

    // MARK: Creation (section 4.2)

    func create(
        for source: any UploadSource, didFindURL: @escaping @Sendable (URL) throws -> Void,
        didSend: @escaping @Sendable (Int64) -> Void
    ) async throws -> UploadState {
        let limit = options.requestLimit(isFile: source is FileSource)
        let segment = try await source.segment(at: 0, limit: options.createsBeforeSending ? 0 : limit)
        // A request with the whole content also works on servers without support for the protocol.
        let completesUpload = segment.isLast && !options.createsBeforeSending
        var headers = completeness(completesUpload)
        if version >= .v6, let length = source.length {
            headers.update(name: "Upload-Length", value: String(length))
        }
        var message = message(options.method, client.endpoint.url, headers, segment)
        message.createsUpload = segment.count == 0
        let found = Locked<URL?>(nil)
        let find: @Sendable (URL) throws -> Void = { url in
            let isNew = try found.withLock { last in
                // All Location values of one creation must be identical (section 4.2.2).
                guard last == nil || last == url else {
                    throw ResumableUploadError.invalidLocation("differs between responses to one request")
                }
                return Swift.exchange(&last, with: url) == nil
            }
            if isNew { try didFindURL(url) }
        }
        let (endpoint, version, length) = (client.endpoint, version, source.length)
        message.onInformationalResponse = { response in
            guard response.statusCode == 104,
                response.value(forHTTPHeaderField: Self.interopVersion).flatMap(UploadFields.integerItem)
                    == Int64(version.rawValue)
            else { return }
            try Self.checkLimit(response, length: length)
            guard let location = response.value(forHTTPHeaderField: "Location") else { return }
            try find(endpoint.uploadURL(location, relativeTo: response.url ?? endpoint.url))
        }
        let reply: UploadClient.Reply
        do {
            reply = try await client.send(message, didSend: didSend)
        } catch Interruption.transient(let error, let delay) {
            guard found.withLock({ $0 }) == nil, completesUpload, !Self.isUnsent(error) else {
                throw Interruption.transient(error, retryAfter: delay)
            }
            throw ResumableUploadError.notResumable(error)
        }
        guard (200..<300).contains(reply.status) else {
            let refusal = client.refusal(reply, to: options.method, ofUpload: false)
            if case Interruption.transient(let error, _) = refusal, found.withLock({ $0 }) == nil, completesUpload,
                reply.status >= 500
            {
                throw ResumableUploadError.notResumable(error)
            }
            throw refusal
        }
        try Self.checkLimit(reply.response, length: length)
        let isComplete = try isComplete(reply, after: segment, ifLast: completesUpload)
        if !isComplete {
            try find(
                endpoint.uploadURL(reply.field("Location"), relativeTo: reply.response.url ?? endpoint.url))
        }
        return UploadState(
            offset: isComplete ? segment.end : try offset(reply) ?? segment.end, isComplete: isComplete,
            requestLimit: Self.limits(reply.response)["max-append-size"], expirationDate: expirationDate(reply),
            reply: reply)
    }

    /// Whether a request failed before it was sent, so it can be sent again.
    private static func isUnsent(_ error: any Error) -> Bool {
        switch (error as? AFError)?.transportError?.phase {
        case .queued, .resolving, .connecting, .tlsHandshake: true
        default: false
        }
    }

    /// Returns whether an upload is complete after a segment.
    ///
    /// - Throws: An error if the server completes the upload before its end.
    private func isComplete(
        _ reply: UploadClient.Reply, after segment: Segment, ifLast isLast: Bool
    ) throws -> Bool {
        let offset = try offset(reply) ?? segment.end
        let isWhole = isLast && offset == segment.end
        guard isComplete(reply) ?? isWhole else { return false }
        guard isWhole else {
            throw ResumableUploadError.invalidOffset("of \(offset) belongs to a complete upload of another length")
        }
        return true
    }

    // MARK: Offset retrieval (section 4.3)

    func state(of url: URL, source: any UploadSource) async throws -> UploadState {
        let reply = try await client.send(message(.head, url))
        guard (200..<300).contains(reply.status) else {
            throw client.refusal(reply, to: .head, ofUpload: true)
        }
        guard let offset = try offset(reply) else { throw ResumableUploadError.invalidOffset("is missing") }
        if let length = source.length,
            let serverLength = reply.field("Upload-Length").flatMap(UploadFields.integerItem), serverLength != length
        {
            throw ResumableUploadError.lengthMismatch(expected: length, server: serverLength)
        }
        let isComplete = isComplete(reply) ?? false
        if isComplete, let length = source.length, offset != length {
            throw ResumableUploadError.invalidOffset("of \(offset) belongs to a complete upload of another length")
        }
        return UploadState(
            offset: offset, isComplete: isComplete, requestLimit: Self.limits(reply.response)["max-append-size"],
            expirationDate: expirationDate(reply), reply: reply)
    }

    // MARK: Append (section 4.4)

    func append(
        _ segment: Segment, of source: any UploadSource, to url: URL, didSend: @escaping @Sendable (Int64) -> Void
    ) async throws -> UploadState {
        var headers = completeness(segment.isLast)
        headers.update(name: "Upload-Offset", value: String(segment.offset))
        if version >= .v6 { headers.update(name: "Content-Type", value: "application/partial-upload") }
        let reply = try await client.send(message(.patch, url, headers, segment), didSend: didSend)
        guard (200..<300).contains(reply.status) else {
            throw client.refusal(reply, to: .patch, ofUpload: true)
        }
        let isComplete = try isComplete(reply, after: segment, ifLast: segment.isLast)
        return UploadState(
            offset: isComplete ? segment.end : try offset(reply) ?? segment.end, isComplete: isComplete,
            requestLimit: Self.limits(reply.response)["max-append-size"], expirationDate: expirationDate(reply),
            reply: reply)
    }

    // MARK: Cancellation (section 4.5)

    func delete(_ url: URL) async throws {
        let reply = try await client.send(message(.delete, url))
        guard (200..<300).contains(reply.status) else {
            throw client.refusal(reply, to: .delete, ofUpload: true)
        }
    }

    // MARK: Fields

    private func offset(_ reply: UploadClient.Reply) throws(ResumableUploadError) -> Int64? {
        guard let text = reply.field("Upload-Offset") else { return nil }
        guard let offset = UploadFields.integerItem(text) else {
            throw .invalidOffset("isn't a number in the valid range")
        }
        return offset
    }

    /// The limits of an upload (section 4.1.4).
    private static func limits(_ response: HTTPURLResponse) -> [String: Int64] {
        let names: Set = ["max-size", "max-append-size", "max-age", "expires"]
        let limits = response.value(forHTTPHeaderField: "Upload-Limit").flatMap {
            UploadFields.integers($0, named: names)
        }
        return (limits ?? [:]).filter { $0.value > 0 || $0.key != "max-append-size" }
    }

    private static func checkLimit(_ response: HTTPURLResponse, length: Int64?) throws(ResumableUploadError) {
        guard let limit = limits(response)["max-size"], let length, length > limit else { return }
        throw .tooLarge(limit: limit)
    }

    private func expirationDate(_ reply: UploadClient.Reply) -> Date? {
        let limits = Self.limits(reply.response)
        let now = client.timeSource.now
        return (limits["max-age"] ?? limits["expires"]).map { now.addingTimeInterval(TimeInterval($0)) }
    }
}
