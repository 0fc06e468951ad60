import AfarTransport
import CZlib
import Foundation
import HTTPTypes
import Testing

@Suite struct ContentDecoderTests {
    static let codings = ["gzip", "deflate", "br", "zstd"]

    private static let bodies = [
        Data("0123456789".utf8), Data(repeating: 0, count: 300_000),
        Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }),
    ]

    private static func head(_ codings: String..., status: Int = 200) -> ResponseHead {
        var fields = HTTPFields()
        for coding in codings { fields.append(HTTPField(name: .contentEncoding, value: coding)) }
        return ResponseHead(status: status, fields: fields, url: "http://localhost/")
    }

    /// Decodes a body that arrives in chunks of one size into a buffer of another size.
    static func decode(
        _ body: Data, _ codings: String, parts: Int = 16 * 1024, room: Int = 32 * 1024,
        limit: DecompressionLimit? = nil
    ) throws -> Data {
        var options = ExchangeOptions()
        options.decompressionLimit = limit
        let decoder = try #require(ContentDecoder(for: head(codings), options: options))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 16)
        defer { buffer.deallocate() }
        var decoded = Data()
        var rest = body[...]
        while !rest.isEmpty {
            try rest.prefix(parts).withUnsafeBytes { bytes in
                var bytes = bytes
                repeat {
                    let count = try decoder.decode(&bytes, into: buffer)
                    decoded.append(contentsOf: buffer[..<count])
                } while decoder.hasMore
                #expect(bytes.isEmpty)
            }
            rest = rest.dropFirst(parts)
        }
        try decoder.finish()
        #expect(decoder.encodedByteCount == body.count)
        return decoded
    }

    private func code(_ body: Data, _ codings: String, parts: Int = 16 * 1024) -> TransportError.Code? {
        do {
            _ = try Self.decode(body, codings, parts: parts)
            return nil
        } catch {
            return (error as? TransportError)?.code
        }
    }

    @Test func supportedCodingsAreOffered() {
        #expect(ContentDecoder.codings == ["br", "zstd", "gzip", "deflate"])
    }

    @Test(arguments: codings + ["x-gzip", "GZip", "identity, gzip"], [1, 7, 16 * 1024])
    func bodiesAreDecodedInAnyChunks(codings: String, parts: Int) throws {
        let coding = codings.lowercased().split(separator: " ").last.map(String.init) ?? ""
        for body in Self.bodies {
            let encoded = try Encoder.encode(body, coding)
            guard encoded.count / parts < 5_000 else { continue }
            #expect(try Self.decode(encoded, codings, parts: parts) == body)
            #expect(try Self.decode(encoded, codings, parts: parts, room: 1_000) == body)
        }
    }

    @Test(arguments: [1, 2, 16 * 1024]) func rawDeflateIsDecoded(parts: Int) throws {
        for body in Self.bodies + [Data(), Data([8])] {
            let encoded = try Encoder.encode(body, "raw")
            guard encoded.count / parts < 5_000 else { continue }
            #expect(try Self.decode(encoded, "deflate", parts: parts) == body)
        }
    }

    @Test(arguments: [1, 5, 16 * 1024]) func severalMembersOfGzipAreDecoded(parts: Int) throws {
        let (one, two) = (Data("one, ".utf8), Data("two".utf8))
        let members = try Encoder.encode(one, "gzip") + Encoder.encode(Data(), "gzip") + Encoder.encode(two, "gzip")
        #expect(try Self.decode(members, "gzip", parts: parts) == one + two)
        #expect(try Self.decode(members + Data(count: 700), "gzip", parts: parts) == one + two)
    }

    @Test func aGzipHeaderCanHaveAChecksum() throws {
        var header = gz_header()
        header.hcrc = 1
        var encoded = try Encoder.deflated(Self.bodies[0], windowBits: 31, header: header)
        #expect(encoded[3] & 2 != 0)
        #expect(try Self.decode(encoded, "gzip") == Self.bodies[0])
        encoded[10] ^= 1
        #expect(code(encoded, "gzip") == .undecodableContent)
    }

    @Test(arguments: [1, 16 * 1024]) func severalFramesOfZstandardAreDecoded(parts: Int) throws {
        let skippable = Data([0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3])
        let frames = try Encoder.encode(Self.bodies[0], "zstd") + skippable + Encoder.encode(Self.bodies[1], "zstd")
        #expect(try Self.decode(frames, "zstd", parts: parts) == Self.bodies[0] + Self.bodies[1])
    }

    /// RFC 9659, section 3.
    @Test func aLargeWindowOfZstandardIsRejected() throws {
        // A frame header that requires a window of 16 MiB.
        let large = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 14 << 3, 1, 0, 0])
        #expect(code(large, "zstd") == .undecodableContent)
        let allowed = Data([0x28, 0xB5, 0x2F, 0xFD, 0x00, 13 << 3, 1, 0, 0])
        #expect(try Self.decode(allowed, "zstd").isEmpty)
    }

    @Test(arguments: codings + ["raw"], [1, 16 * 1024]) func truncatedBodiesFail(coding: String, parts: Int) throws {
        let encoded = try Encoder.encode(Data("0123456789 0123456789 abc".utf8), coding)
        for count in 1..<encoded.count {
            let code = code(encoded.prefix(count), coding == "raw" ? "deflate" : coding, parts: parts)
            #expect(code == .undecodableContent, "\(count) of \(encoded.count) bytes")
        }
    }

    @Test(arguments: codings) func bytesAfterTheEndFail(coding: String) throws {
        let encoded = try Encoder.encode(Self.bodies[0], coding)
        for excess in [Data("\n".utf8), Data("<html>".utf8), Data([0, 0, 1])] {
            #expect(code(encoded + excess, coding) == .undecodableContent)
            #expect(code(encoded + excess, coding, parts: encoded.count) == .undecodableContent)
        }
    }

    @Test(arguments: codings) func otherBytesFail(coding: String) throws {
        #expect(code(Data("<!doctype html><title>Not found</title>".utf8), coding) == .undecodableContent)
    }

    @Test func aWrongChecksumFails() throws {
        for coding in ["gzip", "deflate"] {
            var encoded = try Encoder.encode(Self.bodies[0], coding)
            encoded[encoded.count - (coding == "gzip" ? 5 : 1)] ^= 1
            #expect(code(encoded, coding) == .undecodableContent)
        }
    }

    @Test(arguments: codings) func anEmptyBodyIsEmpty(coding: String) throws {
        #expect(try Self.decode(Data(), coding).isEmpty)
        #expect(try Self.decode(Encoder.encode(Data(), coding), coding).isEmpty)
    }

    @Test(arguments: [1, 16 * 1024]) func upToFiveCodingsAreDecoded(parts: Int) throws {
        let names = ["gzip", "br", "deflate", "zstd", "x-gzip"]
        var encoded = Self.bodies[2]
        for name in names { encoded = try Encoder.encode(encoded, name) }
        guard encoded.count / parts < 5_000 else { return }
        #expect(try Self.decode(encoded, names.joined(separator: ", "), parts: parts) == Self.bodies[2])
        #expect(code(encoded.prefix(encoded.count - 1), names.joined(separator: ", ")) == .undecodableContent)
        let six = (names + ["gzip"]).joined(separator: ", ")
        #expect(code(try Encoder.encode(encoded, "gzip"), six) == .undecodableContent)
    }

    @Test func codingsOfSeveralLinesAreCombined() throws {
        let decoder = try #require(ContentDecoder(for: Self.head("deflate", "gzip"), options: ExchangeOptions()))
        let encoded = try Encoder.encode(Encoder.encode(Self.bodies[0], "deflate"), "gzip")
        try withUnsafeTemporaryAllocation(byteCount: 100, alignment: 1) { buffer in
            try encoded.withUnsafeBytes { bytes in
                var bytes = bytes
                let count = try decoder.decode(&bytes, into: buffer)
                #expect(Data(buffer.prefix(count)) == Self.bodies[0])
            }
        }
    }

    @Test(arguments: [
        "", "identity", "utf-8", "aws-chunked", "binary", "text", "gzip, aws-chunked", "compress", "gzip;q=1",
    ])
    func otherBodiesAreDeliveredUnchanged(codings: String) {
        #expect(ContentDecoder(for: Self.head(codings), options: ExchangeOptions()) == nil)
    }

    @Test func partialAndRawBodiesAreDeliveredUnchanged() {
        for status in [204, 206, 304] {
            #expect(ContentDecoder(for: Self.head("gzip", status: status), options: ExchangeOptions()) == nil)
        }
        var options = ExchangeOptions()
        options.decodesContent = false
        #expect(ContentDecoder(for: Self.head("gzip"), options: options) == nil)
    }

    @Test(arguments: codings) func aBombStopsAtTheLimit(coding: String) throws {
        let encoded = try Encoder.encode(Data(count: 5_000_000), coding)
        let error = #expect(throws: TransportError.self) {
            _ = try Self.decode(encoded, coding, limit: DecompressionLimit(size: 1_000_000, ratio: 100))
        }
        #expect(error?.code == .responseTooLarge)
        let limit = DecompressionLimit(size: 5_000_000, ratio: 1)
        #expect(try Self.decode(encoded, coding, limit: limit).count == 5_000_000)
    }

    /// The output of the intermediate coding counts toward the limit, too, and a single call decodes only a part of it.
    @Test func aBombBetweenTwoCodingsStopsAtTheLimit() throws {
        let member = try Encoder.encode(Data(), "gzip")
        let members = Data(repeatElement(member, count: 100_000).joined())
        let encoded = try Encoder.encode(members, "gzip")
        let decoder = try #require(ContentDecoder(for: Self.head("gzip, gzip"), options: ExchangeOptions()))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_000, alignment: 16)
        defer { buffer.deallocate() }
        var steps = 0
        try encoded.withUnsafeBytes { bytes in
            var bytes = bytes
            repeat {
                let count = try decoder.decode(&bytes, into: buffer)
                #expect(count == 0)
                steps += 1
            } while decoder.hasMore
        }
        try decoder.finish()
        #expect(steps >= 2)
        let error = #expect(throws: TransportError.self) {
            _ = try Self.decode(encoded, "gzip, gzip", limit: DecompressionLimit(size: 1_000_000, ratio: 100))
        }
        #expect(error?.code == .responseTooLarge)
    }
}
