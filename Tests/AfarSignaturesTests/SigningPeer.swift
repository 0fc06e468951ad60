import Foundation
import HTTPTypes
import TestServers
import Testing

/// Python with PyPI's botocore and http-message-signatures, which `make test-packages` installs.
enum SigningPeer {
    private static let python = ".build/signing-peer/bin/python"

    static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: python) }

    /// The number of signatures to compare: 200, unless the environment contains `AFAR_SIGNATURES`.
    static var count: Int { ProcessInfo.processInfo.environment["AFAR_SIGNATURES"].flatMap { Int($0) } ?? 200 }

    /// Runs a script with a file of JSON. Returns its output.
    static func run(_ script: String, _ mode: String, _ input: some Encodable) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-signatures-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "input.json")
        try JSONEncoder().encode(input).write(to: file)
        let process = try ChildProcess(
            [python, "Tests/AfarSignaturesTests/\(script)", mode, file.path], output: folder.appending(path: "output"))
        let succeeded = process.wait()
        let output = process.output
        #expect(succeeded, "\(output.prefix(4_000))")
        return output
    }

    /// Starts a server that verifies the signatures of AWS.
    static func awsServer() async throws -> ServerChild {
        try await ServerChild("aws") { _, port in [python, "Tests/AfarSignaturesTests/aws.py", "serve", "\(port)"] }
    }

    /// Starts a server that verifies and signs messages.
    ///
    /// - Parameter keys: The public key of requests (`public`) and the private key of responses (`private`).
    static func messageServer(_ keys: [String: String]) async throws -> ServerChild {
        let json = String(decoding: try JSONEncoder().encode(keys), as: UTF8.self)
        return try await ServerChild("messages", configuration: { _, _ in json }) { folder, port in
            [
                python, "Tests/AfarSignaturesTests/messages.py", "serve", "\(port)",
                folder.appending(path: "configuration").path,
            ]
        }
    }
}

/// A generator with a seed, so that failures can be repeated.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func text(_ characters: String, _ counts: ClosedRange<Int>) -> String {
        let characters = Array(characters)
        return String(
            (0..<Int.random(in: counts, using: &self)).compactMap { _ in characters.randomElement(using: &self) })
    }

    mutating func flip() -> Bool { Bool.random(using: &self) }
}

extension HTTPFields {
    /// Adds a field, even if there is one with the same name.
    mutating func add(_ name: String, _ value: String) {
        if let name = HTTPField.Name(name) { append(HTTPField(name: name, value: value)) }
    }
}
