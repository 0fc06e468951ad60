import AfarCore
import AfarSerializers
import Foundation
import Testing

/// Malicious property lists are rejected, and legitimate ones are accepted.
@Suite(.timeLimit(.minutes(1))) struct PropertyListCheckTests {
    /// A type that decodes any value.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {
            guard var container = try? decoder.unkeyedContainer() else { return }
            while !container.isAtEnd { _ = try container.decode(Anything.self) }
        }
    }

    private func input(_ data: Data) -> SerializationInput {
        SerializationInput(request: nil, head: ResponseHead(status: 200, url: "http://h/"), data: data, error: nil)
    }

    /// Returns the reason why both serializers reject a property list.
    private func refusal(of data: Data) throws -> PropertyListError.Reason? {
        let error = #expect(throws: AFError.self) { try PropertyListResponseSerializer().serialize(input(data)) }
        let serializer = DecodableResponseSerializer<Anything>(decoder: PropertyListDecoder())
        let other = #expect(throws: AFError.self) { try serializer.serialize(input(data)) }
        let reason = (error?.underlyingError as? PropertyListError)?.reason
        guard case .dataCorrupted(let context) = other?.underlyingError as? DecodingError else {
            Issue.record("unexpected error: \(String(describing: other))")
            return reason
        }
        #expect((context.underlyingError as? PropertyListError)?.reason == reason)
        return reason
    }

    private func nested(_ depth: Int) -> Data {
        let levels = (0..<(depth - 1)).map { BinaryPropertyList.array([$0 + 1]) }
        return BinaryPropertyList.data(levels + [BinaryPropertyList.array([])])
    }

    private func nestedXML(_ depth: Int) -> String {
        "<?xml version=\"1.0\"?><plist version=\"1.0\">" + String(repeating: "<array>", count: depth)
            + String(repeating: "</array>", count: depth) + "</plist>"
    }

    // MARK: Binary

    @Test func validListsAreAccepted() throws {
        let rows: [[String: Any]] = (0..<2000).map { row in
            [
                "id": row, "name": "Row \(row)", "ü": "ünï", "when": Date(timeIntervalSinceReferenceDate: Double(row)),
                "data": Data(count: row % 50), "ok": row % 2 == 0, "ratio": Double(row) / 3, "empty": [Any](),
            ]
        }
        for format in [PropertyListSerialization.PropertyListFormat.binary, .xml] {
            let data = try PropertyListSerialization.data(fromPropertyList: rows, format: format, options: 0)
            let values = try PropertyListResponseSerializer().serialize(input(data)) as? [[String: Any]]
            #expect(values?.count == 2000)
            #expect(values?.last?["name"] as? String == "Row 1999")
        }
        for depth in [1, 512] {
            _ = try PropertyListResponseSerializer().serialize(input(nested(depth)))
            _ = try PropertyListResponseSerializer().serialize(input(Data(nestedXML(depth).utf8)))
        }
    }

    @Test func theErrorOfAResponseNamesPropertyLists() {
        let error = AFError.responseSerializationFailed(
            reason: .customSerializationFailed(error: PropertyListError(.circular)))
        #expect("\(error)".contains("not a property list: it has an array or dictionary that contains itself"))
    }

    @Test func listsThatContainThemselvesAreRejected() throws {
        let array = BinaryPropertyList.array
        #expect(try refusal(of: BinaryPropertyList.data([array([0])])) == .circular)
        #expect(try refusal(of: BinaryPropertyList.data([array([1]), array([2]), array([1])])) == .circular)
        let dictionary = BinaryPropertyList.dictionary(keys: [1], values: [0])
        #expect(try refusal(of: BinaryPropertyList.data([dictionary, BinaryPropertyList.text("a")])) == .circular)
    }

    @Test func deepListsAreRejected() throws {
        for depth in [515, 20_000] {
            #expect(try refusal(of: nested(depth)) == .tooDeep(limit: 512))
            #expect(try refusal(of: Data(nestedXML(depth).utf8)) == .tooDeep(limit: 512))
        }
    }

    @Test func sharedElementsCountTowardTheDepth() throws {
        // The first element has 300 levels. Below 300 other levels, the second element contains the first one, which
        // the check has already visited.
        let deep = (2..<301).map { BinaryPropertyList.array([$0 + 1]) } + [BinaryPropertyList.array([])]
        let above = (302..<601).map { BinaryPropertyList.array([$0 + 1]) } + [BinaryPropertyList.array([2])]
        let top = BinaryPropertyList.array([2, 302])
        #expect(
            try refusal(of: BinaryPropertyList.data([top, BinaryPropertyList.text("unused")] + deep + above))
                == .tooDeep(limit: 512))
    }

    @Test func bombsAreRejectedImmediately() throws {
        let start = ContinuousClock.now
        let doubled = (0..<30).map { BinaryPropertyList.array([$0 + 1, $0 + 1]) } + [BinaryPropertyList.text("A")]
        #expect(try refusal(of: BinaryPropertyList.data(doubled)) == .tooLarge)
        let text = BinaryPropertyList.text(String(repeating: "A", count: 60_000))
        let repeated = BinaryPropertyList.array([Int](repeating: 1, count: 60_000))
        #expect(try refusal(of: BinaryPropertyList.data([repeated, text])) == .tooLarge)
        let lists = BinaryPropertyList.array([Int](repeating: 1, count: 60_000))
        #expect(
            try refusal(
                of: BinaryPropertyList.data([
                    lists, BinaryPropertyList.array([Int](repeating: 2, count: 60_000)), [0x09],
                ])) == .tooLarge)
        // Expanding 30 doublings would take hours.
        #expect(ContinuousClock.now - start < .seconds(60))
    }

    @Test(arguments: [
        BinaryPropertyList.data([BinaryPropertyList.array([7])]),
        BinaryPropertyList.data([BinaryPropertyList.dictionary(keys: [1], values: [1]), [0x10, 0x01]]),
        BinaryPropertyList.data([[0xC1, 0x00, 0x01], BinaryPropertyList.text("a")]),
        BinaryPropertyList.data([BinaryPropertyList.array([1]), [0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]]),
        BinaryPropertyList.data([[0x5F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]]),
        BinaryPropertyList.data([[0x6F, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 0]]),
        BinaryPropertyList.data([[0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]]),
        BinaryPropertyList.data([[0x70]]), BinaryPropertyList.data([[0x09]], top: 1), BinaryPropertyList.data([]),
        Data("bplist00".utf8), Data("bplist00".utf8) + Data(repeating: 0xFF, count: 40), Data("bplist15".utf8),
    ])
    func malformedListsAreRejected(data: Data) throws {
        guard case .malformed? = try refusal(of: data) else {
            Issue.record("not rejected")
            return
        }
    }

    // MARK: XML

    @Test(arguments: [
        String(repeating: "<!-- </array> --><array>", count: 600),
        "<!--\(String(repeating: "x", count: 9))-->"
            + String(repeating: "<array a='/'>", count: 600), String(repeating: "<array a=\"/\">", count: 600),
        String(repeating: "<array><![CDATA[</array>]]>", count: 600),
        String(repeating: "<array><?x </array>?>", count: 600),
    ])
    func nestingCannotBeHidden(content: String) throws {
        let document = "<?xml version=\"1.0\"?><!DOCTYPE plist SYSTEM \"x\"><plist>\(content)"
        #expect(try refusal(of: Data(document.utf8)) == .tooDeep(limit: 512))
        #expect(
            try refusal(of: Data([0xFF, 0xFE]) + (document.data(using: .utf16LittleEndian) ?? Data()))
                == .tooDeep(limit: 512))
    }

    @Test(arguments: [
        "<!DOCTYPE plist [<!ENTITY a \"<!--\">]><plist><array/></plist>", "<!DOCTYPE plist \"a><!-- \"><plist/>",
        "<!DOCTYPE plist 'a'><plist/>", "<?xml version=\"1.0\" encoding=\"ebcdic\"?><plist/>",
    ])
    func ambiguousDocumentsAreRejected(document: String) throws {
        guard case .malformed? = try refusal(of: Data(document.utf8)) else {
            Issue.record("not rejected")
            return
        }
    }

    @Test(arguments: ["hz-gb-2312", "iso-2022-kr", "iso-2022-jp"])
    func ambiguousEncodingsAreRejected(label: String) throws {
        let document = "<?xml version=\"1.0\" encoding=\"\(label)\"?><plist><array/></plist>"
        guard case .malformed(let problem)? = try refusal(of: Data(document.utf8)) else {
            Issue.record("not rejected")
            return
        }
        #expect(problem.contains("hide"))
    }

    @Test(arguments: ["shift_jis", "gbk", "euc-kr", "koi8-r"])
    func nestingIsDetectedInLegacyEncodings(label: String) throws {
        let beginning = "<?xml version=\"1.0\" encoding=\"\(label)\"?><plist>"
        let levels = String(repeating: "<array><!-- </array> -->", count: 600)
        #expect(try refusal(of: Data((beginning + levels).utf8)) == .tooDeep(limit: 512))
    }

    @Test(arguments: [
        "<plist><?>\(String(repeating: "</x>", count: 600))?>\(String(repeating: "<array>", count: 600))",
        "\(String(repeating: "</x>", count: 600))<plist>\(String(repeating: "<array>", count: 600))",
        "<plist><!--->\(String(repeating: "</x>", count: 600))-->\(String(repeating: "<array>", count: 600))",
        "<plist><!-->\(String(repeating: "</x>", count: 600))-->\(String(repeating: "<array>", count: 600))",
        "<?xml a='>' encoding='utf-7'?><plist/>",
        "<?xml \(String(repeating: " ", count: 2000))encoding='utf-7'?><plist/>",
    ])
    func truncatedStartsAreRejected(document: String) throws {
        let wide = [Data([0xFF, 0xFE]), Data([0xFE, 0xFF])]
        let encodings = [String.Encoding.utf16LittleEndian, .utf16BigEndian]
        let inUTF16 = zip(wide, encodings).map { $0 + (document.data(using: $1) ?? Data()) }
        for data in [Data(document.utf8)] + inUTF16 {
            guard case .malformed? = try refusal(of: data) else {
                Issue.record("not rejected: \(Array(data.prefix(40)))")
                continue
            }
        }
    }

    @Test func manyElementsAreAccepted() throws {
        let comment = "<!-- \(String(repeating: "<array>", count: 600)) -->"
        let items = String(repeating: "<string>a</string><array/><dict/>", count: 2000)
        let document = "<?xml version=\"1.0\"?><plist version=\"1.0\">\(comment)<array>\(items)</array></plist>"
        let values = try PropertyListResponseSerializer().serialize(input(Data(document.utf8))) as? [Any]
        #expect(values?.count == 6000)
    }

    @Test func xmlInUTF16IsRead() throws {
        let document = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist version=\"1.0\"><string>é</string></plist>"
        let bytes = try #require(document.data(using: .utf16LittleEndian))
        #expect(try PropertyListResponseSerializer().serialize(input(Data([0xFF, 0xFE]) + bytes)) as? String == "é")
    }

    // MARK: Formats

    @Test func aDisallowedFormatIsNamed() throws {
        let binary = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .binary, options: 0)
        let xml = try PropertyListSerialization.data(fromPropertyList: ["a": 1], format: .xml, options: 0)
        for (data, format, allowed, name) in [
            (binary, .binary, .xml, "a binary property list"), (xml, .xml, .binary, "an XML property list"),
            (Data("{ a = 1; }".utf8), .openStep, .xml, "OpenStep"),
        ]
            as [(
                Data, PropertyListSerialization.PropertyListFormat, PropertyListSerialization.PropertyListFormat, String
            )]
        {
            let serializer = PropertyListResponseSerializer(allowedFormats: [allowed])
            let error = #expect(throws: AFError.self) { try serializer.serialize(input(data)) }
            #expect((error?.underlyingError as? PropertyListError)?.reason == .formatNotAllowed(format))
            #expect(error?.localizedDescription.contains(name) == true)
            _ = try PropertyListResponseSerializer(allowedFormats: [format]).serialize(input(data))
        }
    }

    @Test(arguments: [Data("hello".utf8), Data([0x00, 0x01]), Data("{\"json\": true}".utf8), Data("<0fbd77>".utf8)])
    func unknownFormatsAreNotParsedAsOpenStep(data: Data) {
        let error = #expect(throws: AFError.self) { try PropertyListResponseSerializer().serialize(input(data)) }
        switch (error?.underlyingError as? PropertyListError)?.reason {
        case .unknownFormat, .formatNotAllowed(.openStep): break
        default: Issue.record("unexpected error: \(String(describing: error))")
        }
    }

    /// Foundation could find the start of a document beyond the bytes that the check examines.
    @Test func longLeadingWhiteSpaceIsRejected() throws {
        let plist = nestedXML(600)
        let spaces = String(repeating: " ", count: 1025)
        let lists = [
            Data((spaces + plist).utf8),
            Data([0xFF, 0xFE]) + ((spaces + plist).data(using: .utf16LittleEndian) ?? Data()),
            Data([0xFE, 0xFF, 0x00, 0x00]) + Data(plist.utf8),
            Data([0xFE, 0xFF, 0x00, 0x00]) + (plist.data(using: .utf16BigEndian) ?? Data()),
        ]
        for list in lists {
            guard case .unknownFormat? = try refusal(of: list) else {
                Issue.record("not rejected: \(Array(list.prefix(8)))")
                continue
            }
            let serializer = PropertyListResponseSerializer(allowedFormats: [.xml, .binary, .openStep])
            let error = #expect(throws: AFError.self) { try serializer.serialize(input(list)) }
            #expect(error?.underlyingError is PropertyListError)
        }
    }

    @Test func theDecoderRejectsOpenStep() throws {
        #expect(try refusal(of: Data("(a, b)".utf8)) == .formatNotAllowed(.openStep))
    }

    @Test func openStepIsAcceptedIfAllowed() throws {
        let serializer = PropertyListResponseSerializer(allowedFormats: [.openStep])
        let value = try serializer.serialize(input(Data("{ a = (1, \"b c\"); }".utf8))) as? [String: [String]]
        #expect(value == ["a": ["1", "b c"]])
        let deep = Data(String(repeating: "(", count: 100_000).utf8)
        #expect(throws: AFError.self) { try serializer.serialize(input(deep)) }
    }

    @Test(arguments: ["integer", "real", "date", "string", "data"])
    func malformedBytesInXMLAreRejected(element: String) throws {
        let list = Data("<plist><\(element)>".utf8) + [0xFA] + Data("1</\(element)></plist>".utf8)
        let error = #expect(throws: AFError.self) {
            try DecodableResponseSerializer<Int>(decoder: PropertyListDecoder()).serialize(input(list))
        }
        #expect("\(String(describing: error))".contains("UTF-8"))
        #expect(throws: AFError.self) { try PropertyListResponseSerializer().serialize(input(list)) }
    }
}
