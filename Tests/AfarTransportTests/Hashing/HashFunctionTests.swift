import Foundation
import Testing

@testable import AfarTransport

/// The hashes, against the standards' own vectors and against OpenSSL.
struct HashFunctionTests {
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
    ])
    func md5IsThatOfTheStandard(text: String, digest: String) {
        #expect(MD5.hexDigest(of: text) == digest)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ])
    func sha256IsThatOfTheStandard(text: String, digest: String) {
        #expect(SHA256.hexDigest(of: text) == digest)
    }

    /// All lengths around the ends of blocks, and whatever pieces the bytes come in.
    @Test func everyLengthAndEveryCutGiveWhatOpenSSLGives() throws {
        let lengths = [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1000, 100_003]
        for length in lengths {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max) }
            #expect(digest(MD5.self, of: bytes) == (try openSSL("-md5", bytes)), "\(length) bytes")
            #expect(digest(SHA256.self, of: bytes) == (try openSSL("-sha256", bytes)), "\(length) bytes")
        }
    }

    private func digest<Function: HashFunction>(_: Function.Type, of bytes: [UInt8]) -> String {
        var hash = Function()
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...max(1, bytes.count / 3)))
            piece.withUnsafeBytes { hash.update($0) }
            rest = rest.dropFirst(piece.count)
        }
        return hash.finalize().hexDigits
    }

    private func openSSL(_ algorithm: String, _ bytes: [UInt8]) throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "hash-\(UUID().uuidString)")
        try Data(bytes).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["openssl", "dgst", algorithm, "-r", file.path]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return String(text.prefix { $0 != " " })
    }
}
