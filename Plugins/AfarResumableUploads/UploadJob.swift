import AfarCore
import AfarTransport
import Foundation

/// The caller's values for all requests of an upload.
struct UploadRequests: Sendable {
    let headers: HTTPHeaders
    let interceptor: (any RequestInterceptor)?
}

/// The work of a ``ResumableUpload``: its file, its record and its parts.
struct UploadJob: Sendable {
    /// The origin of the bytes.
    enum Body: Sendable {
        case file(URL)
        case chunks(RequestBodyStream)
    }

    /// Where the bytes are sent.
    enum Target: Sendable {
        /// The URL that creates uploads.
        case new(any URLConvertible)
        /// The URL of an upload.
        case existing(any URLConvertible)
    }

    private let upload: ResumableUpload
    private let client: UploadClient
    private let uploadProtocol: ResumableUploadProtocol
    private let options: ResumableUploadOptions
    private let sources: [any UploadSource]
    private let parts: UploadParts
    private let canStartOver: Bool

    init(
        _ upload: ResumableUpload, of body: Body, to target: Target, protocol uploadProtocol: ResumableUploadProtocol,
        requests: UploadRequests, options: ResumableUploadOptions
    ) throws {
        let (endpoint, existing) = try Self.endpoint(target, in: upload.session, options)
        let file: UploadFile?
        switch body {
        case .file(let url):
            try options.check(for: uploadProtocol, isFile: true)
            file = try UploadFile(url)
        case .chunks:
            try options.check(for: uploadProtocol, isFile: false)
            file = nil
        }
        let parts = try UploadParts(
            record: options.record, of: file, endpoint: endpoint, uploadProtocol: uploadProtocol,
            count: options.parallelParts)
        if let existing { try parts.setURL(existing, of: 0) }
        self.upload = upload
        self.uploadProtocol = uploadProtocol
        self.options = options
        self.parts = parts
        canStartOver = existing == nil
        if parts.all.count == 1 { upload.didReceive(uploadURL: parts.url(of: 0)) }
        client = UploadClient(upload: upload, endpoint: endpoint, requests: requests)
        switch body {
        case .file:
            sources =
                file.map { file in
                    parts.all.map { FileSource(file: file, start: $0.start, count: $0.count) }
                } ?? []
            upload.setTotal(file?.size ?? -1)
        case .chunks(let chunks):
            sources = [ChunkSource(chunks, for: upload)]
        }
    }

    /// Returns the endpoint, and the URL of the upload if it exists.
    private static func endpoint(
        _ target: Target, in session: Session, _ options: ResumableUploadOptions
    ) throws(ResumableUploadError) -> (UploadEndpoint, URL?) {
        func url(_ convertible: any URLConvertible) throws(ResumableUploadError) -> URL {
            guard let url = try? convertible.asURL() else { throw .invalidOptions("The URL is invalid.") }
            guard let base = session.configuration.baseURL else { return url }
            return URL(keepingEscapesOf: url.absoluteString, relativeTo: base) ?? url
        }
        switch target {
        case .new(let convertible):
            return (try UploadEndpoint(try url(convertible), allowsOtherOrigins: options.allowsOtherOrigins), nil)
        case .existing(let convertible):
            guard options.record == nil, options.parallelParts == 1 else {
                throw .invalidOptions("An upload that is continued by its URL can't have a record or parallelParts.")
            }
            let endpoint = try UploadEndpoint(try url(convertible), allowsOtherOrigins: options.allowsOtherOrigins)
            return (endpoint, try endpoint.checked(endpoint.url))
        }
    }

    private var isJoined: Bool { sources.count > 1 }

    private var dialect: any UploadDialect {
        switch uploadProtocol {
        case .tus: TusDialect(client: client, options: options, isPartial: isJoined)
        case .draft(let version): DraftDialect(client: client, options: options, version: version)
        }
    }

    func run() async throws -> ResumableUploadResponse {
        do {
            let response = try await send()
            if let length = sources.first?.length, !isJoined { upload.setTotal(length) }
            parts.removeRecord()
            return response
        } catch {
            if Task.isCancelled, upload.deletesUpload {
                try? await upload.withoutCancellation { await deleteUploads() }
                parts.removeRecord()
            } else {
                parts.finish()
            }
            throw Self.finalError(error)
        }
    }

    private static func finalError(_ error: any Error) -> any Error {
        switch error {
        case Interruption.transient(let error, _): ResumableUploadError.noProgress(attempts: 1, lastError: error)
        case Interruption.gone(let status): ResumableUploadError.uploadGone(status: status)
        default: error
        }
    }

    private func send() async throws -> ResumableUploadResponse {
        guard isJoined else {
            let reply = try await sendPart(0)
            return ResumableUploadResponse(url: parts.url(of: 0), response: reply.response, data: reply.data)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in sources.indices { group.addTask { _ = try await sendPart(index) } }
            // The first failure cancels the other parts.
            while try await group.next() != nil {}
        }
        return try await join()
    }

    private func sendPart(_ index: Int) async throws -> UploadClient.Reply {
        let part = PartUpload(
            dialect: dialect, source: sources[index], options: options, canStartOver: canStartOver,
            retries: UploadRetries(options: options, session: upload.session)
        ) {
            parts.url(of: index)
        } saveURL: {
            if !isJoined { upload.didReceive(uploadURL: $0) }
            try parts.setURL($0, of: index)
        } didProgress: {
            upload.didProgress(to: $0, of: index)
        } didReceiveExpirationDate: {
            upload.didReceive(expirationDate: $0)
        }
        return try await part.run()
    }

    /// Requests the final upload of all parts.
    private func join() async throws -> ResumableUploadResponse {
        let dialect = TusDialect(client: client, options: options, isPartial: true)
        var retries = UploadRetries(options: options, session: upload.session).makeCount()
        while true {
            do {
                let (url, reply) = try await dialect.join(parts.urls)
                return ResumableUploadResponse(url: url, response: reply.response, data: reply.data)
            } catch Interruption.transient(let error, let delay) {
                try await retries.wait(after: error, retryAfter: delay)
            }
        }
    }

    private func deleteUploads() async {
        for url in parts.urls { try? await dialect.delete(url) }
    }
}
