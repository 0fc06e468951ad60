import Foundation

/// A file that is gone after use.
func withTemporaryFile<Result>(_ bytes: Data, _ body: (String) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
    try bytes.write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(url.path)
}
