// Writes the tables in Sources/AfarCharsets and the checksums for the tests from the data of the Encoding Standard:
//
//     curl -O https://encoding.spec.whatwg.org/encodings.json -O https://encoding.spec.whatwg.org/indexes.json
//     swift Tests/EncodingTables/generate.swift .

import Foundation

struct Group: Decodable {
    struct Encoding: Decodable {
        let name: String
        let labels: [String]
    }

    let encodings: [Encoding]
}

enum Index: Decodable {
    case codePoints([UInt32?])
    case ranges([[UInt32]])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        do {
            self = .codePoints(try container.decode([UInt32?].self))
        } catch {
            self = .ranges(try container.decode([[UInt32]].self))
        }
    }

    /// The code points in order. Missing entries are 0.
    var numbers: [UInt32] {
        switch self {
        case .codePoints(let points): points.map { $0 ?? 0 }
        case .ranges(let ranges): ranges.flatMap { $0 }
        }
    }
}

/// Encodes each number as three digits of six bits, the format of CodePointTable.
func literal(_ numbers: [UInt32]) -> String {
    let digits = numbers.map { number in
        String(String.UnicodeScalarView([12, 6, 0].compactMap { Unicode.Scalar(0x30 + (number >> $0) & 0x3F) }))
    }
    let rows = stride(from: 0, to: digits.count, by: 36).map { row in
        "            " + digits[row..<min(row + 36, digits.count)].joined()
    }
    return "#\"\"\"\n" + rows.joined(separator: "\\#\n") + "\n            \"\"\"#"
}

/// FNV-1a of the numbers, each as four bytes in little-endian order.
func checksum(_ numbers: [UInt32]) -> UInt64 {
    numbers.flatMap { number in [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: number >> $0) } }
        .reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
}

/// Converts `windows-1252` to `windows1252`, and `EUC-JP` to `eucJP`.
func camelCase(_ name: String) -> String {
    let parts = name.split { $0 == "-" || $0 == "_" }
    return parts.enumerated().map { $0 == 0 ? $1.lowercased() : $1.prefix(1).uppercased() + $1.dropFirst() }.joined()
}

let folder = URL(filePath: CommandLine.arguments.dropFirst().first ?? ".")
let groups = try JSONDecoder().decode([Group].self, from: Data(contentsOf: folder.appending(path: "encodings.json")))
let indexes = try JSONDecoder()
    .decode([String: Index].self, from: Data(contentsOf: folder.appending(path: "indexes.json")))
let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL
let tables = root.appending(path: "Sources/AfarCharsets")
let notice = "// Made by Tests/EncodingTables/generate.swift from the indexes of https://encoding.spec.whatwg.org.\n"

func write(_ text: String, to file: URL) throws { try Data(text.utf8).write(to: file) }

let multiByte = ["big5", "euc-kr", "gb18030", "jis0208", "jis0212"]
for (name, topic) in zip(multiByte, ["Big5", "EUCKR", "GB18030", "JIS0208", "JIS0212"]) {
    let numbers = indexes[name]?.numbers ?? []
    try write(
        """
        // swift-format-ignore-file
        \(notice)
        extension CodePointTable {
            /// The index \(name).
            package static var \(camelCase(name)): CodePointTable {
                CodePointTable(\(literal(numbers)))
            }
        }

        """, to: tables.appending(path: "CodePointTable+\(topic).swift"))
}

let singleByte = indexes.keys.filter { name in
    if case .codePoints(let points) = indexes[name] { points.count == 128 } else { false }
}.sorted()
let properties = (singleByte + ["gb18030-ranges"]).map { name in
    """
        /// The index \(name).
        package static var \(camelCase(name)): CodePointTable {
            CodePointTable(\(literal(indexes[name]?.numbers ?? [])))
        }
    """
}
try write(
    "// swift-format-ignore-file\n\(notice)\nextension CodePointTable {\n\(properties.joined(separator: "\n\n"))\n}\n",
    to: tables.appending(path: "CodePointTable+Small.swift"))

let lines = groups.flatMap(\.encodings).map { "        \($0.name) \($0.labels.joined(separator: " "))" }
try write(
    """
    // swift-format-ignore-file
    \(notice)
    /// The labels of the Encoding Standard, section 4.2.
    package enum EncodingLabels {
        /// A line for each encoding: its name, then its labels.
        package static let lines = \"\"\"
    \(lines.joined(separator: "\n"))
            \"\"\"
    }

    """, to: tables.appending(path: "EncodingLabels.swift"))

let sums = (multiByte + singleByte).map { name in
    let numbers = indexes[name]?.numbers ?? []
    return "        \"\(name)\": (\(numbers.count), 0x\(String(checksum(numbers), radix: 16, uppercase: true))),"
}
try write(
    """
    // swift-format-ignore-file
    \(notice)
    enum IndexChecksums {
        /// The length of each index, and FNV-1a of its code points, each as four bytes, the lowest first, 0 where the index
        /// has none.
        static let all: [String: (length: Int, checksum: UInt64)] = [
    \(sums.joined(separator: "\n"))
        ]
    }

    """, to: root.appending(path: "Tests/AfarSerializersTests/Text/IndexChecksums.swift"))
