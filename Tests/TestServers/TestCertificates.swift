public import Foundation

/// The certificates that `Tests/Certificates/make` makes: of an authority, of servers good and bad, and of clients.
public struct TestCertificates: Sendable {
    /// What a program said that failed.
    public struct Failure: Error {
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
        let (process, output) = (Process(), Pipe())
        process.executableURL = script
        process.arguments = [folder.path]
        process.standardError = output
        try process.run()
        let text = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(output: String(decoding: text, as: UTF8.self)) }
    }

    /// The authority that has signed the good ones.
    public var authority: URL { file("root.crt") }

    /// One of the files.
    public func file(_ name: String) -> URL { folder.appending(path: name) }

    /// What is in one of the files.
    public func data(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }
}
