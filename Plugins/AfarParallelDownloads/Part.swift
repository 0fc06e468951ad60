import AfarCore
import Foundation
import HTTPTypes

/// A part of the file: its state across all requests for it.
final class Part: Sendable {
    /// The server doesn't provide the file in parts. The whole file must be requested.
    struct NoParts: Error {}

    /// A request was retried although all bytes had arrived.
    struct NothingLeft: Error {}

    private enum Kind {
        /// The first part, before its response has arrived.
        case first
        case part(FileVersion)
        /// The whole file, and the version from which it can be resumed.
        case whole(FileVersion?)
    }

    private struct State {
        var kind: Kind
        /// The first byte that hasn't been written.
        var position: Int64
        /// The end of the part, or nil if it is unknown.
        var end: Int64?
        /// The end of the current response's range. A server can send less than was requested.
        var responseEnd: Int64?
        var furthest: Int64
        /// The highest position when the last counted failure occurred.
        var furthestAtFailure: Int64
        var failures = 0
        var error: (any Error)?

        var fields: HTTPHeaders {
            // Decoding can't start in the middle.
            var fields: HTTPHeaders = ["Accept-Encoding": "identity"]
            switch kind {
            case .first:
                fields["Range"] = "bytes=0-\(DownloadPlan.minimumLength - 1)"
            case .part(let version):
                fields["Range"] = "bytes=\(position)-\((end ?? version.length) - 1)"
                fields["If-Range"] = version.validator
            case .whole(let version):
                guard let version, position > 0 else { break }
                fields["Range"] = "bytes=\(position)-"
                fields["If-Range"] = version.validator
            }
            return fields
        }
    }

    private let file: PartialFile
    private let download: ParallelDownload
    /// Called with the head of the first successful response, and the version if the file can be requested in parts.
    private let open: @Sendable (ResponseHead, FileVersion?) throws -> Void
    private let state: Locked<State>

    /// Creates the first part, whose response determines the version.
    init(
        file: PartialFile, download: ParallelDownload,
        open: @escaping @Sendable (ResponseHead, FileVersion?) throws -> Void
    ) {
        self.file = file
        self.download = download
        self.open = open
        state = Locked(
            State(kind: .first, position: 0, end: DownloadPlan.minimumLength, furthest: 0, furthestAtFailure: 0))
    }

    init(_ range: Range<Int64>, of version: FileVersion, file: PartialFile, download: ParallelDownload) {
        self.file = file
        self.download = download
        open = { _, _ in }
        state = Locked(
            State(
                kind: .part(version), position: range.lowerBound, end: range.upperBound, furthest: range.lowerBound,
                furthestAtFailure: range.lowerBound))
    }

    /// The bytes that haven't been written, or nil if the end is unknown.
    var rest: Range<Int64>? { state.withLock { state in state.end.map { min(state.position, $0)..<$0 } } }

    /// The end of the part, which is the length of the file for the last part.
    var end: Int64? { state.withLock { $0.end } }

    /// The error that ended the part, if it isn't the error of a request.
    var error: (any Error)? { state.withLock { $0.error } }

    /// Whether all bytes of the last response's range have arrived, even if the response then failed.
    var hasWholeResponse: Bool { state.withLock { $0.error == nil && $0.responseEnd == $0.position } }

    /// Requests the whole file from now on.
    func requestWhole() {
        state.withLock { ($0.kind, $0.position, $0.end) = (.whole(nil), 0, nil) }
    }

    // MARK: Requests

    /// Returns the fields that request the rest of this part (RFC 9110, sections 13.1.5 and 14.2).
    ///
    /// - Throws: ``NothingLeft`` if all bytes have arrived.
    func fields() throws(NothingLeft) -> HTTPHeaders {
        let (fields, discarded) = state.withLock { state -> (HTTPHeaders?, Int64) in
            if let end = state.end, state.responseEnd != nil, state.position == end { return (nil, 0) }
            var discarded: Int64 = 0
            // The next response has another range.
            state.responseEnd = nil
            if case .part(let version) = state.kind, version.validator == nil {
                // A small file. Without a validator, it is requested again from its first byte.
                discarded = state.position
                (state.kind, state.position, state.end) = (.first, 0, DownloadPlan.minimumLength)
            }
            return (state.fields, discarded)
        }
        guard let fields else { throw NothingLeft() }
        if discarded > 0 { download.updateProgress { completed, _ in completed -= discarded } }
        return fields
    }

    /// Whether a response for this part, or for an earlier one, has been accepted.
    var hasBegun: Bool {
        state.withLock { if case .first = $0.kind { false } else { true } }
    }

    /// Resets the number of failures, because the next request is sent to another URL.
    func forgetFailures() { state.withLock { $0.failures = 0 } }

    /// Returns the number of failures in a row without considerable progress, including this one.
    func countFailure() -> Int {
        state.withLock { state in
            if state.furthest - state.furthestAtFailure >= DownloadPlan.minimumLength {
                state.failures = 0
                state.furthestAtFailure = state.furthest
            }
            state.failures += 1
            return state.failures
        }
    }

    // MARK: Responses

    /// Checks the head of a response before its body is written.
    func accept(_ head: ResponseHead) throws {
        let codings = head.values(for: .contentEncoding).filter { !["", "identity"].contains($0.lowercased()) }
        switch (state.withLock { $0.kind }, head.status) {
        case (_, 200), (_, 206):
            if !codings.isEmpty { throw ParallelDownloadError.contentCoding(codings.joined(separator: ", ")) }
        case (.first, 416): throw NoParts()
        case (_, 416): throw ParallelDownloadError.changedOnServer
        default: throw AFError.responseValidationFailed(reason: .unacceptableStatusCode(code: head.status))
        }
        switch (state.withLock { $0.kind }, head.status) {
        case (.first, 206): try acceptFirst(head)
        case (.part(let version), 206): try acceptPart(head, of: version)
        case (.part, _): throw ParallelDownloadError.changedOnServer
        case (.whole(let version), 206): try acceptRest(head, of: version)
        default: try acceptWhole(head)
        }
    }

    private func acceptFirst(_ head: ResponseHead) throws {
        let (range, length) = try checkedRange(head, from: 0)
        guard let length else { throw NoParts() }
        let version = FileVersion(head, length: length)
        // Without a validator, bytes of different responses can't be combined.
        guard version.validator != nil || range.upperBound == length - 1 else { throw NoParts() }
        let end = min(DownloadPlan.minimumLength, length)
        try open(head, version)
        state.withLock { ($0.kind, $0.end, $0.responseEnd) = (.part(version), end, range.upperBound + 1) }
    }

    private func acceptPart(_ head: ResponseHead, of version: FileVersion) throws {
        let position = state.withLock { $0.position }
        let (range, length) = try checkedRange(head, from: position)
        guard version.includes(head), length ?? version.length == version.length else {
            throw ParallelDownloadError.changedOnServer
        }
        state.withLock { $0.responseEnd = range.upperBound + 1 }
    }

    private func acceptRest(_ head: ResponseHead, of version: FileVersion?) throws {
        guard let version else {
            throw ParallelDownloadError.wrongRange(
                requested: "the whole file", received: head.value(for: .contentRange))
        }
        try acceptPart(head, of: version)
    }

    /// Accepts the whole file, because the server ignores ranges. An earlier body is replaced.
    private func acceptWhole(_ head: ResponseHead) throws {
        let length = head.values(for: .transferEncoding).isEmpty ? head.contentLength : nil
        let version = length.map { FileVersion(head, length: $0) }
        let isResumable = version?.validator != nil && head.value(for: .acceptRanges)?.lowercased() != "none"
        try open(head, nil)
        try file.truncate(to: 0)
        download.updateProgress { ($0, $1) = (0, length) }
        state.withLock { state in
            state.kind = .whole(isResumable ? version : nil)
            (state.position, state.end, state.responseEnd) = (0, length, length)
        }
    }

    /// The minimum length of a response that contains less than the requested range. Without a minimum, a server could cause any number of
    /// requests.
    private static let minimumShortLength: Int64 = 1 << 16

    /// Returns the range of a response and the length of the whole file. A server can send less than the requested range.
    private func checkedRange(_ head: ResponseHead, from start: Int64) throws -> (ClosedRange<Int64>, Int64?) {
        let value = head.value(for: .contentRange)
        let end = state.withLock { $0.end }
        let requested = "bytes \(start)-\(end.map { "\($0 - 1)" } ?? "")"
        guard let range = value.flatMap(ContentRange.init), let bytes = range.bytes, bytes.lowerBound == start,
            bytes.upperBound < end ?? .max
        else { throw ParallelDownloadError.wrongRange(requested: requested, received: value) }
        let count = bytes.upperBound - bytes.lowerBound + 1
        let isShort = bytes.upperBound != min(end ?? .max, range.totalLength ?? .max) - 1
        guard !isShort || count >= Self.minimumShortLength else {
            throw ParallelDownloadError.wrongRange(requested: requested, received: value)
        }
        if let length = head.contentLength, length != count {
            throw ParallelDownloadError.wrongLength(expected: count, received: length)
        }
        return (bytes, range.totalLength)
    }

    // MARK: Bodies

    /// Writes the next bytes. Returns false if the part has failed.
    func write(_ chunk: Data) -> Bool {
        let (position, end) = state.withLock { ($0.position, $0.responseEnd) }
        do {
            if let end, Int64(chunk.count) > end - position {
                throw ParallelDownloadError.wrongLength(expected: end, received: position + Int64(chunk.count))
            }
            try file.write(chunk, at: position)
        } catch {
            state.withLock { $0.error = error }
            return false
        }
        state.withLock { state in
            state.position += Int64(chunk.count)
            state.furthest = max(state.furthest, state.position)
        }
        download.updateProgress { completed, _ in completed += Int64(chunk.count) }
        return true
    }

    /// Called after a response has ended. Returns whether the part has all its bytes. If the file's length is unknown, the part
    /// ends with the last received byte.
    ///
    /// - Throws: ``ParallelDownloadError/wrongLength(expected:received:)`` if the response was too short.
    func isComplete() throws -> Bool {
        try state.withLock { state in
            if let end = state.responseEnd, end != state.position {
                throw ParallelDownloadError.wrongLength(expected: end, received: state.position)
            }
            let end = state.end ?? state.position
            state.end = end
            return state.position == end
        }
    }
}
