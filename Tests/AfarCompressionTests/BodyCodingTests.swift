import AfarCompression
import CZlib
import Foundation
import Testing

/// Compressed data, decompressed by other implementations.
@Suite struct BodyCodingTests {
    /// Compressible and incompressible bodies around the size of the compressor's buffer.
    static let bodies: [Data] = [
        Data(), Data([0]), Data("hello, hello, hello".utf8), Data(repeating: 7, count: 65_536),
        random(65_535), random(65_536), random(1_000_003),
    ]

    static func random(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<(count + 7) / 8).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }).prefix(
            count)
    }

    /// Decompresses the zlib format with zlib. Returns `nil` if the data is invalid.
    func inflated(_ data: Data, count: Int) -> Data? {
        var result = [UInt8](repeating: 0, count: max(count, 1))
        var length = uLong(result.count)
        let status = uncompress(&result, &length, Array(data), uLong(data.count))
        return status == Z_OK ? Data(result.prefix(Int(length))) : nil
    }

    /// Decompresses data with the gzip program.
    func gunzipped(_ data: Data) throws -> Data {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).gz")
        defer { try? FileManager.default.removeItem(at: file) }
        try data.write(to: file)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["gzip", "-dc", file.path]
        process.standardOutput = output
        try process.run()
        let result = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return result
    }

    @Test(arguments: bodies)
    func deflateIsTheZlibFormat(body: Data) throws {
        let coded = try DeflateCoding.encode(body)
        #expect(inflated(coded, count: body.count) == body)
        // RFC 1950: method 8, a 32 KB window, no dictionary, and a checksum over both bytes.
        #expect(coded.first == 0x78)
        #expect((Int(coded[0]) << 8 | Int(coded[1])) % 31 == 0)
        #expect(coded[1] & 0x20 == 0)
    }

    @Test(arguments: bodies)
    func gzipIsReadByGzip(body: Data) throws {
        let coded = try GzipCoding.encode(body)
        #expect(try gunzipped(coded) == body)
        // RFC 1952: the magic number, method 8, no flags, no modification time.
        #expect(coded.prefix(8) == Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]))
    }

    @Test func onlyTheSliceOfDataIsEncoded() throws {
        let slice = Data("..inner..".utf8).dropFirst(2).dropLast(2)
        #expect(inflated(try DeflateCoding.encode(slice), count: 10) == Data("inner".utf8))
        #expect(try gunzipped(GzipCoding.encode(slice)) == Data("inner".utf8))
    }

    @Test func equalBodiesHaveEqualEncodings() throws {
        let body = Self.bodies[2]
        #expect(try DeflateCoding.encode(body) == DeflateCoding.encode(body))
        #expect(try GzipCoding.encode(body) == GzipCoding.encode(body))
        #expect(try DeflateCoding.encode(Self.bodies[3]).count < 200)
    }

    @Test func anErrorIncludesZlibsMessage() {
        let error = CompressionError(status: -4, message: "no memory")
        #expect(error.localizedDescription.contains("-4, no memory"))
        #expect(CompressionError(status: -6, message: "").localizedDescription.contains("-6. "))
    }
}
