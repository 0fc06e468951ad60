import Foundation

/// Calls a closure with the path of a temporary file.
///
/// - Parameter bytes: The contents of the file.
func withTemporaryFile<Result>(_ bytes: Data, _ body: (String) async throws -> Result) async throws -> Result {
    let url = FileManager.default.temporaryDirectory.appending(path: "afar-\(UUID().uuidString)")
    try bytes.write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    return try await body(url.path)
}
