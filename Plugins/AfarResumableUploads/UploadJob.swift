import AfarCore
import AfarTransport
import Foundation

/// The work of a ``ResumableUpload``: its file, its record and its parts.
struct UploadJob: Sendable {
    /// The origin of the bytes.
    enum Body: Sendable {
        case file(URL)
        case chunks(RequestBodyStream)
    }

    private let upload: ResumableUpload
    private let session: Session
    private let client: UploadClient
    private let uploadProtocol: ResumableUploadProtocol
    private let options: ResumableUploadOptions
    private let sources: [any UploadSource]
    private let parts: UploadParts

    init(
        session: Session, endpoint: any URLConvertible, body: Body, uploadProtocol: ResumableUploadProtocol,
        headers: HTTPHeaders, interceptor: (any RequestInterceptor)?, options: ResumableUploadOptions,
        upload: ResumableUpload
    ) throws(ResumableUploadError) {
        let url: URL
        do {
            url = try endpoint.asURL()
        } catch {
            throw .invalidOptions("The URL can't be used.")
        }
        let endpoint = try UploadEndpoint(url, allowsOtherOrigins: options.allowsOtherOrigins)
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
        self.upload = upload
        self.session = session
        self.uploadProtocol = uploadProtocol
        self.options = options
        self.parts = parts
        client = UploadClient(session: session, endpoint: endpoint, headers: headers, interceptor: interceptor)
        switch body {
        case .file:
            sources =
                file.map { file in
                    parts.all.map { FileSource(file: file, start: $0.start, count: $0.count) }
                } ?? []
            upload.setTotal(file?.size ?? -1)
        case .chunks(let chunks):
            sources = [ChunkSource(chunks)]
        }
    }

    private var isJoined: Bool { sources.count > 1 }

    private var dialect: any UploadDialect {
        switch uploadProtocol {
        case .tus: TusDialect(client: client, options: options, isPartial: isJoined)
        case .draft(let version): DraftDialect(client: client, options: options, version: version)
        }
    }

    func run() async throws(ResumableUploadError) -> ResumableUpload.Value {
        do {
            let value = try await send()
            if let length = sources.first?.length, !isJoined { upload.setTotal(length) }
            parts.removeRecord()
            return value
        } catch {
            if Task.isCancelled, upload.deletesUpload {
                await deleteUploads()
                parts.removeRecord()
            } else {
                parts.finish()
            }
            throw Task.isCancelled ? .cancelled : Self.finalError(error)
        }
    }

    private static func finalError(_ error: any Error) -> ResumableUploadError {
        switch error {
        case let error as ResumableUploadError: error
        case Interruption.transient(let error, _): .noProgress(attempts: 1, lastError: error)
        case Interruption.gone(let status): .uploadGone(status: status)
        case let error as AFError: .requestFailed(error)
        default: .requestFailed(.sessionTaskFailed(error: error))
        }
    }

    private func send() async throws -> ResumableUpload.Value {
        guard isJoined else {
            let reply = try await sendPart(0)
            return ResumableUpload.Value(url: parts.url(of: 0), response: reply.response, data: reply.data)
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
            dialect: dialect, source: sources[index], options: options,
            retries: UploadRetries(options: options, session: session)
        ) {
            parts.url(of: index)
        } saveURL: {
            try parts.setURL($0, of: index)
        } didProgress: {
            upload.didProgress(to: $0, of: index)
        } didReceiveExpirationDate: {
            upload.didReceive(expirationDate: $0)
        }
        return try await part.run()
    }

    /// Requests the final upload of all parts.
    private func join() async throws -> ResumableUpload.Value {
        let dialect = TusDialect(client: client, options: options, isPartial: true)
        var retries = UploadRetries(options: options, session: session).makeCount()
        while true {
            do {
                let (url, reply) = try await dialect.join(parts.urls)
                return ResumableUpload.Value(url: url, response: reply.response, data: reply.data)
            } catch Interruption.transient(let error, let delay) {
                try await retries.wait(after: error, retryAfter: delay)
            }
        }
    }

    /// Requests the deletion of all uploads that exist. Runs in a task of its own, because this one is canceled.
    private func deleteUploads() async {
        let (dialect, urls) = (dialect, parts.urls)
        await Task(executorPreference: DispatchExecutor.shared) {
            for url in urls { try? await dialect.delete(url) }
        }.value
    }
}
