public import AfarTransport
import Foundation
import HTTPTypes

/// A transport that forwards exchanges to another transport and records them as an HTTP archive.
///
/// ```swift
/// let recording = RecordingTransport(around: HTTPTransport())
/// let session = Session(transport: recording)
/// …
/// try recording.archive.write(to: file)
/// ```
///
/// Each redirect, each response to an authentication challenge and each retry is a separate entry, in the order of sending. A
/// failure is recorded with its code. Bodies of up to 16 MiB are recorded, including bodies in files and streams. The body of a
/// streamed response is recorded only if it is read to the end.
///
/// The transport has no access to a session's ``SessionConfiguration/sensitiveHeaders``, so list them in the redaction.
/// For a WebSocket, only the opening request is recorded. Raw connections aren't recorded.
public struct RecordingTransport: Transport {
    static let longestBody = 16 * 1024 * 1024

    private let base: any Transport
    private let recorder: ArchiveRecorder

    /// Creates a transport that records the exchanges of another transport.
    ///
    /// - Parameters:
    ///   - base: The transport that performs the exchanges.
    ///   - redaction: The secrets to remove from the archive. The default is ``HAR/Redaction/secrets``.
    public init(around base: any Transport, redaction: HAR.Redaction = .secrets) {
        (self.base, recorder) = (base, ArchiveRecorder(redaction: redaction))
    }

    private init(around base: any Transport, _ recorder: ArchiveRecorder) {
        (self.base, self.recorder) = (base, recorder)
    }

    /// Returns a transport that records the exchanges of another transport in this transport's archive.
    public func around(_ base: any Transport) -> RecordingTransport { RecordingTransport(around: base, recorder) }

    /// The exchanges recorded so far. This property can be accessed from any thread.
    public var archive: HAR { recorder.archive }

    /// The capabilities of the base transport.
    public var capabilities: TransportCapabilities { base.capabilities }

    /// Performs an exchange with the base transport and records it.
    public func send(_ exchange: Exchange) async throws -> TransportResponse {
        if case .connection = exchange.delivery, exchange.request.method == .connect {
            return try await base.send(exchange)
        }
        var exchange = exchange
        let sent = SentBody(&exchange)
        let file = BodyFileTracker(&exchange)
        let number = recorder.add(HAR.Entry(started: Date(), request: HAR.Request(exchange)))
        let type = exchange.fields[.contentType] ?? ""
        do {
            let response = try await base.send(exchange)
            recorder.change(number) { entry in
                entry.request.body = sent.content(type: type)
                entry.response.take(response.head)
                if let metrics = response.report.transactions.last { entry.take(metrics) }
            }
            record(response, file.descriptor, number)
            return response
        } catch {
            let failure = error as? TransportError
            recorder.change(number) { entry in
                entry.request.body = sent.content(type: type)
                entry.failure = (failure?.code ?? .unknown).description
                if let metrics = failure?.report.transactions.last { entry.take(metrics) }
            }
            throw error
        }
    }

    private func record(_ response: TransportResponse, _ descriptor: Int32?, _ number: Int) {
        @Sendable func store(_ data: Data?) {
            recorder.change(number) { $0.response.take(data, type: $0.response.content.mimeType) }
        }
        switch response.body {
        case .connection: store(Data())
        case .data(let data): store(data.count <= Self.longestBody ? data : nil)
        case .file(let count):
            let isRecorded = count <= Self.longestBody
            store(count == 0 ? Data() : isRecorded ? descriptor.flatMap { Data(lastBytes: Int(count), of: $0) } : nil)
        case .stream(let stream):
            // A strong reference would prevent cancellation when the reader abandons the stream.
            stream.copy(upTo: Self.longestBody) { [weak stream, recorder] data in
                store(data)
                guard let stream else { return }
                Task {
                    let report = await stream.report()
                    recorder.change(number) { entry in report.transactions.last.map { entry.take($0) } }
                }
            }
        }
    }

    /// Closes idle connections of the base transport.
    public func closeIdleConnections() { base.closeIdleConnections() }
    /// The connections of the base transport.
    public var connectionStatistics: ConnectionStatistics? { get async { await base.connectionStatistics } }
}

/// A copy of the request body that was sent.
private final class SentBody: Sendable {
    private let body: RequestBody
    private let copy = Locked(Data())

    /// Replaces a streamed body with one that copies its chunks.
    init(_ exchange: inout Exchange) {
        body = exchange.body
        guard case .stream(let stream) = body else { return }
        var recorded = RequestBodyStream(length: stream.length, isReplayable: stream.isReplayable) { [copy] in
            let read = stream.reader()
            copy.withLock { $0 = Data() }
            return {
                let chunk = try await read()
                if let chunk {
                    copy.withLock { if $0.count <= RecordingTransport.longestBody { $0.append(chunk) } }
                }
                return chunk
            }
        }
        (recorded.isDuplex, recorded.trailers) = (stream.isDuplex, stream.trailers)
        exchange.body = .stream(recorded)
    }

    func content(type: String) -> HAR.Content? {
        let data: Data?
        switch body {
        case .none: return nil
        case .data(let bytes): data = bytes
        case .file(let file):
            let isRecorded = (body.length ?? 0) <= RecordingTransport.longestBody
            data = isRecorded ? try? Data(contentsOf: file) : nil
        case .stream: data = copy.withLock { $0 }
        }
        guard let data, data.count <= RecordingTransport.longestBody else {
            return HAR.Content(mimeType: type, text: nil, encoding: nil)
        }
        return HAR.Content(mimeType: type, data: data)
    }
}

/// Tracks the file that receives the response's body.
private final class BodyFileTracker: Sendable {
    private let chosen: Locked<Int32?>

    /// Wraps the closure that receives the response's head, because the closure can choose a different file for the body.
    init(_ exchange: inout Exchange) {
        chosen = Locked(exchange.delivery.file)
        guard let decision = exchange.decide else { return }
        exchange.decide = { [chosen] head in
            @Sendable func track(_ decision: HeadDecision) {
                if case .take(let delivery?) = decision { chosen.withLock { $0 = delivery.file } }
            }
            let decision = decision(head)
            if case .deferred(let pending) = decision { pending.whenDecided(track) } else { track(decision) }
            return decision
        }
    }

    var descriptor: Int32? { chosen.withLock { $0 } }
}

extension ResponseDelivery {
    /// The descriptor of the file that receives the body, or `nil` for other destinations.
    fileprivate var file: Int32? { if case .file(let descriptor, _) = self { descriptor } else { nil } }
}

extension Data {
    /// Reads the last bytes written to a file. Returns `nil` if that isn't possible.
    fileprivate init?(lastBytes count: Int, of descriptor: Int32) {
        let end = lseek(descriptor, 0, SEEK_CUR)
        guard count > 0, end >= count else { return nil }
        var data = Data(count: count)
        let read = data.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, count, end - off_t(count)) }
        guard read == count else { return nil }
        self = data
    }
}
