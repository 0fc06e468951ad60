import AfarCore
import Foundation

/// A file that is removed when the object is deallocated.
final class TemporaryFile: Sendable {
    let url: URL

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("afar-har-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("file")
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }
}

extension TransportResponse {
    var text: String? {
        if case .data(let data) = body { String(decoding: data, as: UTF8.self) } else { nil }
    }
}

/// Returns the transport's error if `work` fails.
func failure(of work: () async throws -> Void) async -> TransportError? {
    do {
        try await work()
        return nil
    } catch {
        return error as? TransportError
    }
}
