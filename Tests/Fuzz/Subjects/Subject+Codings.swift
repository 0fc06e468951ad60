import AfarCore
import Foundation
import HTTPTypes

extension Subject {
    static let codings = [
        Subject("content-coding", seeds: codingSeeds, tokens: ["\u{1F}", "\0", "\0\0\0\0", "P*M\u{18}", "(", "x"]) {
            (input, random) throws(Contradiction) in
            let others = ["gzip", "deflate", "br", "zstd", "gzip, deflate", "br, gzip, zstd"]
            let names = (random.isOne(in: 4) ? nil : likelyCoding(of: input)) ?? random.pick(others) ?? "gzip"
            let whole = decoded([input], names, room: 16 * 1024)
            let cut = decoded(random.chunks(of: input), names, room: 100)
            try Contradiction.check(whole, cut, "\(names), cut")
            return whole != nil
        }
    ]

    private static func likelyCoding(of input: Data) -> String? {
        switch input.first {
        case 0x1F: "gzip"
        case 0x78: "deflate"
        case 0x1B: "br"
        case 0x28: "zstd"
        default: nil
        }
    }

    private static let codingSeeds = [
        // "0123456789" three times, in gzip, deflate, br and zstd.
        "H4sIAAAAAAACAzMwNDI2MTUzt7A0wMICAJQHXC0eAAAA", "eJwzMDQyNjE1M7ewNMDCAgBegwYo",
        "Gx0A+MUNxuYljRgqFEBQTmfvAQ==", "KLUv/QRYhQAAUDAxMjM0NTY3ODkBAKULEuIug/A=",
    ].compactMap { Data(base64Encoded: $0) }

    /// Decodes a body. Returns `nil` if it is rejected.
    private static func decoded(_ chunks: [Data], _ names: String, room: Int) -> Data? {
        var options = ExchangeOptions()
        options.decompressionLimit = DecompressionLimit(size: 1 << 20, ratio: 1)
        let head = ResponseHead(status: 200, fields: [.contentEncoding: names], url: "http://localhost/")
        guard let decoder = ContentDecoder(for: head, options: options) else { return nil }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: room, alignment: 1)
        defer { buffer.deallocate() }
        var data = Data()
        do {
            for chunk in chunks where !chunk.isEmpty {
                try chunk.withUnsafeBytes { bytes in
                    var bytes = bytes
                    repeat {
                        let count = try decoder.decode(&bytes, into: buffer)
                        data.append(contentsOf: buffer[..<count])
                    } while decoder.hasMore
                }
            }
            try decoder.finish()
            return data
        } catch {
            return nil
        }
    }
}
