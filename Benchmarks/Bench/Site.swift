import Foundation
import Servers

/// The files that the servers serve, in a temporary folder.
struct Site {
    static let tiny = "/tiny"
    /// The path of the tiny file in a location where nginx closes the connection after each response.
    static let closing = "/closing"
    static let json = "/record.json"
    static let large = "/large"
    static let uploads = "/uploads/file"

    static let tinyBody = "hello, world\n"
    static let answer = 42
    static let gibibyte = 1 << 30

    let folder: URL

    var certificate: URL { folder.appending(path: "certificate.pem") }
    var key: URL { folder.appending(path: "key.pem") }
    var files: URL { folder.appending(path: "files") }
    var large: URL { files.appending(path: "large") }
    var uploaded: URL { files.appending(path: Self.uploads) }
    var downloaded: URL { folder.appending(path: "downloaded") }

    /// Creates the files. They are stored in memory if five copies of the large file fit there, so that the results
    /// don't depend on a disk.
    init() throws {
        let memory = URL(filePath: "/dev/shm")
        let values = try? FileManager.default.attributesOfFileSystem(forPath: memory.path)
        let free = (values?[.systemFreeSize] as? NSNumber)?.intValue ?? 0
        let parent = free > 5 * Self.gibibyte ? memory : FileManager.default.temporaryDirectory
        folder = parent.appending(path: "afar-bench-\(ProcessInfo.processInfo.processIdentifier)")
        try FileManager.default.createDirectory(
            at: files.appending(path: "uploads"), withIntermediateDirectories: true)
        try Data(Self.record.utf8).write(to: files.appending(path: "record.json"))
        // nginx responds without this file.
        try Data(Self.tinyBody.utf8).write(to: files.appending(path: Self.tiny))
        try Data().write(to: large)
        // Sparse: takes no space and reads as zeros.
        let handle = try FileHandle(forWritingTo: large)
        try handle.truncate(atOffset: UInt64(Self.gibibyte))
        try handle.close()
        try makeCertificate()
    }

    private func makeCertificate() throws {
        _ = try Executable.run(
            Executable.find("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key.path,
                "-out", certificate.path,
            ], standardError: .nullDevice)
    }

    static let record: String = {
        let about = Array(repeating: "Writes programs for an engine that nobody has built.", count: 15)
        return """
            {
              "answer": \(answer),
              "name": "Ada Lovelace",
              "email": "ada@example.com",
              "isActive": true,
              "score": 98.25,
              "tags": ["mathematics", "engines", "notes"],
              "about": "\(about.joined(separator: " "))"
            }

            """
    }()
}
