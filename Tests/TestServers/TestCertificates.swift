public import Foundation

/// The certificates that `Tests/Certificates/make` creates for an authority, for valid and invalid servers, and for
/// clients.
public struct TestCertificates: Sendable {
    /// An error with the output of a program.
    public struct Failure: Error {
        /// The program's output.
        public let output: String
    }

    /// The certificates, which are created once a day and whenever the script changes.
    public static let shared = Result { try TestCertificates() }

    /// The folder that contains the files.
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
        let log = new.appendingPathExtension("log")
        let text = { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        guard try ChildProcess([script.path, new.path], output: log).wait() else { throw Failure(output: text()) }
        // Another process may already have created the folder.
        guard rename(new.path, folder.path) != 0 else { return }
        try FileManager.default.removeItem(at: new)
    }

    /// The certificate of the authority that issued the valid certificates.
    public var authority: URL { file("root.crt") }

    /// Returns the URL of a file.
    public func file(_ name: String) -> URL { folder.appending(path: name) }

    /// Returns the contents of a file.
    public func data(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }
}
