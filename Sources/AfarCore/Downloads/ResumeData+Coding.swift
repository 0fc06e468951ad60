package import Foundation

/// The encoded form of resume data.
///
/// It consists of a line of ASCII that ends with a line feed, followed by a JSON object in UTF-8:
///
///     AfarResumeData/1 crc32=3610a686
///     {"byteCount":1048576,"headers":[["Accept","*/*"]],"path":"/tmp/afar-x/download",…}
///
/// The number after the slash is the version of the format. The checksum is the CRC-32 of gzip and PNG over the object's bytes,
/// in eight hexadecimal digits. The object has these members:
///
/// - `url`
/// - `headers`: A list of names and values.
/// - `entityTag` or `lastModified`: The validator as the server sent it.
/// - `origin`: The origin of the validator, if redirects led to another origin than that of `url`.
/// - `path`: The partial file.
/// - `byteCount`: The number of valid bytes in the file.
/// - `totalLength`: The length of the whole file, if the server sent it.
extension ResumeData {
    private static let magic = "AfarResumeData/"
    private static let version = 1
    /// In bytes; more than any request's headers need.
    private static let largestSize = 1 << 20

    private struct Members: Codable {
        var url: URL
        var headers: [[String]]
        var origin: URL?
        var entityTag: String?
        var lastModified: String?
        var path: String
        var byteCount: Int64
        var totalLength: Int64?
    }

    /// Returns the resume data in the format described above.
    package func encoded() -> Data {
        var members = Members(
            url: url, headers: headers.map { [$0.name, $0.value] }, path: path, byteCount: byteCount,
            totalLength: totalLength)
        if origin != Origin(url) { members.origin = origin.flatMap { URL(string: $0.text) } }
        switch validator {
        case .entityTag(let text): members.entityTag = text
        case .lastModified(let text): members.lastModified = text
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Text and integers always encode.
        let object = (try? encoder.encode(members)) ?? Data()
        return Data("\(Self.magic)\(Self.version) crc32=\(Self.checksum(of: object))\n".utf8) + object
    }

    /// Decodes the output of ``encoded()``.
    package init(decoding data: Data) throws(ResumeDataError) {
        guard data.starts(with: Self.magic.utf8) else { throw .notResumeData }
        guard let end = data.prefix(100).firstIndex(of: 0x0A), data.count <= Self.largestSize else { throw .damaged }
        let words = String(decoding: data[..<end].dropFirst(Self.magic.utf8.count), as: UTF8.self).split(separator: " ")
        guard let version = words.first.flatMap({ Int($0) }), version > 0 else { throw .damaged }
        guard version <= Self.version else { throw .newerVersion(version) }
        let object = data[(end + 1)...]
        guard words.count == 2, words[1] == "crc32=\(Self.checksum(of: object))",
            // Foundation's decoder can crash on input that ends with an opening bracket.
            object.last == UInt8(ascii: "}"),
            let members = try? JSONDecoder().decode(Members.self, from: object),
            let url = Self.withoutUserinfo(members.url),
            let validator = ResumeValidator(entityTag: members.entityTag, lastModified: members.lastModified),
            members.headers.allSatisfy({ $0.count == 2 }), members.byteCount >= 0, members.totalLength ?? 0 >= 0
        else { throw .damaged }
        self.init(
            url: url, headers: HTTPHeaders(members.headers.map { HTTPHeader(name: $0[0], value: $0[1]) }),
            origin: members.origin.flatMap { Origin($0) }, validator: validator, path: members.path,
            byteCount: members.byteCount, totalLength: members.totalLength)
    }

    private static func checksum(of bytes: Data) -> String {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        let value = ~sum
        return String(repeating: "0", count: value.leadingZeroBitCount / 4 - (value == 0 ? 1 : 0))
            + String(value, radix: 16)
    }
}
