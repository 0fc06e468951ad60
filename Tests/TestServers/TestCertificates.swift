public import Foundation

/// The certificates that `Tests/Certificates/make` makes: of an authority, of servers good and bad, and of clients.
public struct TestCertificates: Sendable {
    /// What a program said that failed.
    public struct Failure: Error {
        /// Its words.
        public let output: String
    }

    /// Made once for the process, and left in the temporary directory.
    public static let shared = Result { try TestCertificates() }

    /// Where the files are.
    public let folder: URL

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "afar-certificates-\(UUID().uuidString)")
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Certificates/make")
        let said = folder.appendingPathExtension("log")
        let text = { (try? String(contentsOf: said, encoding: .utf8)) ?? "" }
        guard try ChildProcess([script.path, folder.path], output: said).wait() else { throw Failure(output: text()) }
    }

    /// The authority that has signed the good ones.
    public var authority: URL { file("root.crt") }

    /// One of the files.
    public func file(_ name: String) -> URL { folder.appending(path: name) }

    /// What is in one of the files.
    public func data(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }
}
