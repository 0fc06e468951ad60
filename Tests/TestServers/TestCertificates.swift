public import Foundation

/// The certificates that `Tests/Certificates/make` creates for an authority, for valid and invalid servers, and for
/// clients.
public struct TestCertificates: Sendable {
    /// An error with the output of a program.
    public struct Failure: Error {
        /// The program's output.
        public let output: String
    }

    /// The certificates.
    public static let shared = Result { try TestCertificates() }

    /// The folder that contains the files.
    public let folder: URL

    private init() throws { folder = try Self.folder(madeBy: "Certificates/make") }

    /// Runs a script that creates files in the folder that is passed to it.
    ///
    /// - Parameter script: The path of the script in the folder `Tests`.
    /// - Returns: The folder. The script runs once a day and whenever it changes.
    public static func folder(madeBy script: String) throws -> URL {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appending(path: script)
        let changeDate = try file.resourceValues(forKeys: [.contentModificationDateKey]).contentModificationDate
        let version = Int(changeDate?.timeIntervalSince1970 ?? 0)
        let day = Int(Date().timeIntervalSince1970 / 86_400)
        let kind = file.deletingLastPathComponent().lastPathComponent.lowercased()
        let folder = tests.deletingLastPathComponent().appending(path: ".build/\(kind)/\(day)-\(version)")
        guard !FileManager.default.fileExists(atPath: folder.path) else { return folder }
        let new = folder.appendingPathExtension(UUID().uuidString)
        let log = new.appendingPathExtension("log")
        let text = { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }
        try FileManager.default.createDirectory(at: new, withIntermediateDirectories: true)
        guard try ChildProcess([file.path, new.path], output: log).wait() else { throw Failure(output: text()) }
        // Another process may already have created the folder.
        if rename(new.path, folder.path) != 0 { try FileManager.default.removeItem(at: new) }
        return folder
    }

    /// The certificate of the authority that issued the valid certificates.
    public var authority: URL { file("root.crt") }

    /// Returns the URL of a file.
    public func file(_ name: String) -> URL { folder.appending(path: name) }

    /// Returns the contents of a file.
    public func data(_ name: String) throws -> Data { try Data(contentsOf: file(name)) }
}
