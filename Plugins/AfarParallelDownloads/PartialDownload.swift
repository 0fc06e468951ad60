import AfarCore
import Foundation

/// What another download requires to continue this one: the partial file, its version, and the ranges that are missing.
///
/// It contains no URL and no headers, so the caller creates the requests again.
struct PartialDownload: Codable, Sendable {
    private static let currentFormat = 1
    /// The maximum size of encoded data in bytes.
    private static let largestSize = 1 << 20

    private(set) var format = Self.currentFormat
    var path: String
    /// The permissions of the complete file.
    var permissions: UInt32
    var length: Int64
    var validator: String
    var origin: String
    /// The first byte of each missing range, and the byte after its last one.
    var missing: [[Int64]]

    init?(_ missing: [Range<Int64>], of version: FileVersion, in file: PartialFile) {
        guard let validator = version.validator, let origin = version.origin, !missing.isEmpty else { return nil }
        path = file.url.path
        permissions = UInt32(file.permissions)
        length = version.length
        self.validator = validator
        self.origin = origin.text
        self.missing = missing.sorted { $0.lowerBound < $1.lowerBound }.map { [$0.lowerBound, $0.upperBound] }
    }

    init(decoding data: Data) throws(ResumeDataError) {
        // Foundation's decoder can crash on input that ends with an opening bracket.
        guard data.count <= Self.largestSize, data.last == UInt8(ascii: "}"),
            let decoded = try? JSONDecoder().decode(Self.self, from: data)
        else { throw .notResumeData }
        guard decoded.format <= Self.currentFormat else { throw .newerVersion(decoded.format) }
        self = decoded
        var end: Int64 = 0
        for range in missing {
            guard range.count == 2, range[0] >= end, range[1] > range[0], range[1] <= length else { throw .damaged }
            end = range[1]
        }
        guard !missing.isEmpty, validator.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), url != nil else {
            throw .damaged
        }
    }

    private var url: URL? { URL(string: origin) }

    var version: FileVersion { FileVersion(length: length, validator: validator, origin: url.flatMap { Origin($0) }) }
    var ranges: [Range<Int64>] { missing.map { $0[0]..<$0[1] } }

    func encoded() -> Data? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try? encoder.encode(self)
    }
}
