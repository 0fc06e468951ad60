import Afar
import AfarResumableUploads
import AfarTransport
import Foundation

/// A clock whose sleepers don't wait. It records their durations.
final class SkippingClock: Clock, Sendable {
    typealias Instant = ContinuousClock.Instant

    private let skipped = Locked<[Duration]>([])
    private let start = ContinuousClock.now

    var delays: [Duration] { skipped.withLock { $0 } }
    var now: Instant { start + delays.reduce(.zero, +) }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        skipped.withLock { durations in durations.append(deadline - (start + durations.reduce(.zero, +))) }
    }
}

/// A generator with a seed, so that failures can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }
}

/// A folder for the files of one test.
final class TestFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "afar-upload-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    var record: URL { url.appending(path: "upload.json") }

    /// Creates a file with random bytes.
    func file(_ count: Int, seed: UInt64 = 1) throws -> (URL, Data) {
        var generator = SeededGenerator(seed: seed)
        var data = Data(capacity: count + 8)
        while data.count < count { withUnsafeBytes(of: generator.next()) { data.append(contentsOf: $0) } }
        data = Data(data.prefix(count))
        let url = url.appending(path: "file-\(seed)")
        try data.write(to: url)
        return (url, data)
    }
}

/// Creates a session whose delays take no time.
func skippingSession(
    _ clock: SkippingClock = SkippingClock(), interceptor: (any RequestInterceptor)? = nil,
    validation: ResponseValidation? = nil
) -> Session {
    var configuration = SessionConfiguration.default
    configuration.validation = validation
    configuration.timeSource = TimeSource(clock: clock) { Date() }
    return Session(configuration: configuration, interceptor: interceptor)
}

extension Result where Success == ResumableUploadResponse {
    /// The error of the upload itself.
    var uploadError: ResumableUploadError? { failure as? ResumableUploadError }
    /// The error of a request.
    var requestError: AFError? { failure as? AFError }

    private var failure: (any Error)? { if case .failure(let error) = self { error } else { nil } }
}
