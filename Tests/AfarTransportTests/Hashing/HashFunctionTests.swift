import Foundation
import TestServers
import Testing

@testable import AfarTransport

/// Compares hashes with the test vectors of the standards and with the output of `openssl dgst`.
struct HashFunctionTests {
    @Test(arguments: [
        ("", "d41d8cd98f00b204e9800998ecf8427e"), ("a", "0cc175b9c0f1b6a831c399e269772661"),
        ("abc", "900150983cd24fb0d6963f7d28e17f72"), ("message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
        ("abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b"),
        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", "d174ab98d277d9f5a5611c2c9f419d9f"),
        (String(repeating: "1234567890", count: 8), "57edf4a22be3c955ac49da2e2107b67a"),
    ])
    func md5IsThatOfTheStandard(text: String, digest: String) {
        #expect(HashFunction.md5.hexDigest(of: text) == digest)
    }

    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
        (String(repeating: "a", count: 1_000_000), "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
    ])
    func sha1IsThatOfTheStandard(text: String, digest: String) {
        #expect(HashFunction.sha1.hexDigest(of: text) == digest)
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
        #expect(HashFunction.sha256.hexDigest(of: text) == digest)
    }

    /// Tests all lengths around the ends of blocks, with the input split at random positions.
    @Test func everyLengthAndSplitMatchesOpenSSL() throws {
        let lengths = [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 127, 128, 129, 1000, 100_003]
        for length in lengths {
            let bytes = (0..<length).map { _ in UInt8.random(in: .min ... .max) }
            for (function, option) in [(HashFunction.md5, "-md5"), (.sha1, "-sha1"), (.sha256, "-sha256")] {
                #expect(digest(function, of: bytes) == (try openSSL(option, bytes)), "\(option), \(length) bytes")
                #expect(digest(function, of: bytes) == bytes.withUnsafeBytes { function.hash(of: $0)?.hexDigits })
            }
        }
    }

    #if os(Linux)
        @Test(arguments: [HashFunction.md5, .sha1, .sha256])
        func anUnavailableFunctionHasNoHash(function: HashFunction) throws {
            #expect(function.isAvailable)
            try withoutHashFunctions {
                #expect(!function.isAvailable)
                #expect(digest(function, of: [1]) == nil)
                #expect(function.hash(of: "a") == nil && function.hexDigest(of: "a") == nil)
                #expect(pendingOpenSSLError() == 0)
            }
            #expect(function.isAvailable && function.hash(of: "a") != nil)
        }
    #endif

    private func digest(_ function: HashFunction, of bytes: [UInt8]) -> String? {
        guard var hash = IncrementalHash(function) else { return nil }
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 1...max(1, bytes.count / 3)))
            piece.withUnsafeBytes { hash.update($0) }
            rest = rest.dropFirst(piece.count)
        }
        return hash.finalize()?.hexDigits
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
