import AfarSerializers
import Foundation

extension Subject {
    static let propertyLists = [
        Subject("plist-xml", seeds: seeds(.xml) + [Data(xmlPlist.utf8)], tokens: plistTokens) {
            (input, _) throws(Contradiction) in try read(input)
        },
        Subject(
            "plist-openstep", seeds: ["{a = (1, \"b\"); \"c\" = <0102 ff>; /* d */ }", "(a, b)", "a = b; c = d;"],
            tokens: openStepTokens
        ) { (input, _) throws(Contradiction) in try read(input, [.openStep]) },
        Subject("plist-binary", seeds: seeds(.binary), tokens: ["\u{0}", "bplist00", "\u{10}", "\u{8}\u{9}", "\u{7F}"])
        {
            (input, _) throws(Contradiction) in try read(input)
        },
    ]

    private static func read(
        _ input: Data, _ formats: Set<PropertyListSerialization.PropertyListFormat> = [.xml, .binary]
    ) throws(Contradiction) -> Bool {
        let type = "application/x-plist"
        let decoded = try serialized(input, .decodable(of: JSONValue.self, decoder: PropertyListDecoder()), type)
        return try serialized(input, PropertyListResponseSerializer(allowedFormats: formats), type) || decoded
    }

    private static func seeds(_ format: PropertyListSerialization.PropertyListFormat) -> [Data] {
        let lists: [Any] = [
            [
                "id": 7, "name": "Ada", "tags": ["a", "b", "日本"], "ok": true, "ratio": -0.5, "bytes": Data([1, 2, 3]),
                "when": Date(timeIntervalSince1970: 1e9), "deep": [["x": [[1]]], [:] as [String: Any]],
            ] as [String: Any],
            Array(0..<40), ["a", "a", "a"], "text", [String(repeating: "long ", count: 30): UInt64.max],
        ]
        return lists.compactMap {
            try? PropertyListSerialization.data(fromPropertyList: $0, format: format, options: 0)
        }
    }

    private static let xmlPlist =
        "<plist version='1.0'><dict><key>a</key><array><integer>0x1F</integer><real>inf</real><data>QQ==</data></array></dict></plist>"

    private static let openStepTokens = [
        "{", "}", "(", ")", "=", ";", ",", "<", ">", "\"", "'", "\\U00e9", "\\", "/*", "*/", "//", "<0102>", "\n", "-1",
        "é",
    ]

    private static let plistTokens = [
        "<dict>", "</dict>", "<array>", "</array>", "<key>a</key>", "<string>", "</string>", "<integer>", "</integer>",
        "-",
        "<real>nan</real>", "<true/>", "<false/>", "<data>", "</data>", "<date>2026-11-21T10:00:00Z</date>", "<plist>",
        "</plist>", "<!--", "-->", "<![CDATA[", "]]>", "&lt;", "&#x41;", "&x;", "<!DOCTYPE", "<?xml", "?>", "<array/>",
        "9223372036854775808", "{a=", "(",
    ]
}
