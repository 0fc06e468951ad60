public import Foundation

/// The certificates that `Tests/Certificates/make` makes: of an authority, of servers good and bad, and of clients.
public struct TestCertificates: Sendable {
    /// What a program said that failed.
    public struct Failure: Error {
        /// Its words.
        public let output: String
    }

    /// Made once a day, and again when the script changes.
    public static let shared = Result { try TestCertificates() }

    /// Where the files are.
    public let folder: URL

    private init() throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let script = tests.appending(path: "Certificates/make")
        let changeDate = try script.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
        let version = Int(changeDate?.timeIntervalSince1970 ?? 0)
        let day = Int(Date().timeIntervalSince1970 / 86_400)
        folder = tests.deletingLastPathComponent().appending(path: ".build/certificates/\(day)-\(version)")
        guard !FileManager.default.fileExists(atPath: folder.path) else { return }
        let new = folder.appendingPathExtension(UUID().uuidString)
        let said = new.appendingPathExtension("log")
        let text = { (try? String(contentsOf: said, encoding: .utf8)) ?? "" }
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        guard try ChildProcess([script.path, new.path], output: said).wait() else { throw Failure(output: text()) }
        // Another process may have been faster.
        guard rename(new.path, folder.path) != 0 else { return }
        try FileManager.default.removeItem(at: new)
    }

    /// The authority that has signed the good ones.
    public var authority: URL { file("root.crt") }

    /// One of the files.
    public func file(_ name: String) -> URL { folder.appending(path: name) }

    /// What is in one of the files.
    public func data(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }
}
