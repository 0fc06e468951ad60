import AfarCore
import AfarYAML
import Foundation
import Testing

/// Malicious YAML. Each document is rejected at negligible cost.
@Suite struct YAMLLimitsTests {
    /// A type that decodes any value, however deeply nested.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {
            if var list = try? decoder.unkeyedContainer() {
                while !list.isAtEnd { _ = try list.decode(Anything.self) }
            } else if let mapping = try? decoder.singleValueContainer().decode([String: Anything].self) {
                _ = mapping
            }
        }
    }

    private static func limit(
        _ yaml: String, _ limits: YAMLLimits = YAMLLimits()
    ) throws -> YAMLLimitExceeded? {
        do {
            _ = try YAMLDataDecoder(limits: limits).decode(Anything.self, from: Data(yaml.utf8))
            return nil
        } catch let error as YAMLLimitExceeded {
            return error
        }
    }

    /// The "billion laughs" attack: nine lines that expand to a billion scalars.
    private static let laughs = (1...9).reduce("a0: &a0 lol\n") { yaml, level in
        yaml + "a\(level): &a\(level) [" + Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ") + "]\n"
    }

    @Test(.timeLimit(.minutes(1)))
    func aliasesThatMultiply() throws {
        let error = try #require(try Self.limit(Self.laughs))
        #expect(error.limit == .nodes)
        #expect(error.line == 6)
        // Hashing this key would take hours.
        #expect(try Self.limit(Self.laughs + "? *a9\n: x\n")?.limit == .nodes)
    }

    @Test(.timeLimit(.minutes(1)))
    func mergedKeysThatMultiply() throws {
        let merges = (1...30).reduce("m0: &m0 {x: 1, y: 2}\n") { yaml, level in
            yaml + "m\(level): &m\(level) {<<: [*m\(level - 1), *m\(level - 1)]}\n"
        }
        #expect(try Self.limit(merges, YAMLLimits(maximumNodes: .max))?.limit == .mappingCount)
        let single = (1...30).reduce("m0: &m0 {x0: 1}\n") { yaml, level in
            yaml + "m\(level): &m\(level) {<<: *m\(level - 1), !!merge m: *m\(level - 1), x\(level): 1}\n"
        }
        #expect(try Self.limit(single, YAMLLimits(maximumNodes: .max))?.limit == .mappingCount)
    }

    @Test(arguments: ["[", "{a: ", "- ", "? "])
    func deepNesting(bracket: String) throws {
        #expect(try Self.limit(String(repeating: bracket, count: 200))?.limit == .depth)
        // The depth limit or the C library's own limit stops the scan.
        let deeper = Data(String(repeating: bracket, count: 1_000_000).utf8)
        #expect(throws: (any Error).self) { try YAMLDataDecoder().decode(Anything.self, from: deeper) }
    }

    @Test func aliasesThatNest() throws {
        let yaml = (1...200).reduce("a0: &a0 x\n") { $0 + "a\($1): &a\($1) [*a\($1 - 1)]\n" }
        #expect(try Self.limit(yaml)?.limit == .depth)
        let wide = (1...50).reduce("a0: &a0 x\n") { $0 + "a\($1): &a\($1) [*a\($1 - 1)]\n" }
        #expect(try Self.limit(wide) == nil)
    }

    @Test func largeMappings() throws {
        func mapping(_ count: Int) -> String { (0..<count).map { "key\($0): x\n" }.joined() }
        #expect(try Self.limit(mapping(1_000)) == nil)
        let error = try #require(try Self.limit(mapping(1_001)))
        #expect(error.limit == .mappingCount)
        #expect(error.line == 1_001)
    }

    @Test func manyNodes() throws {
        let limits = YAMLLimits(maximumNodes: 100)
        func list(_ count: Int) -> String { (0..<count).map { "- \($0)\n" }.joined() }
        #expect(try Self.limit(list(99), limits) == nil)
        #expect(try Self.limit(list(100), limits)?.limit == .nodes)
    }

    @Test func longScalars() throws {
        let limits = YAMLLimits(maximumScalarLength: 100)
        #expect(try Self.limit("- " + String(repeating: "x", count: 100), limits) == nil)
        #expect(try Self.limit("- " + String(repeating: "x", count: 101), limits)?.limit == .scalarLength)
        #expect(try Self.limit("- |\n" + String(repeating: "  text\n", count: 50), limits)?.limit == .scalarLength)
    }

    @Test func largeDocuments() throws {
        let limits = YAMLLimits(maximumSize: 1_000)
        #expect(try Self.limit(String(repeating: "#\n", count: 501), limits)?.limit == .size)
        let wide = try #require(String(repeating: "#\n", count: 501).data(using: .utf32LittleEndian))
        #expect(throws: YAMLLimitExceeded.self) { try YAMLDataDecoder(limits: limits).decode([Int].self, from: wide) }
    }

    @Test func aliasesThatRepeatText() throws {
        let text = String(repeating: "x", count: 1_000)
        func yaml(_ count: Int) -> String {
            "- &a \(text)\n- &b [*a, *a]\n" + String(repeating: "- *b\n", count: count)
        }
        let limits = YAMLLimits(maximumSize: 10_000)
        // Three copies in the anchors, and two per alias.
        #expect(try Self.limit(yaml(3), limits) == nil)
        let error = try #require(try Self.limit(yaml(4), limits))
        #expect(error.limit == .size)
        #expect(error.line == 6)
        let many = "- &a \(String(repeating: "x", count: 1_000_000))\n" + String(repeating: "- *a\n", count: 90_000)
        #expect(try Self.limit(many)?.limit == .size)
    }

    @Test func errorsNameTheExceededLimitAndARemedy() throws {
        let error = try #require(try Self.limit(Self.laughs))
        #expect(
            error.localizedDescription == """
                The YAML document has more than 100000 nodes with its aliases expanded (line 6). If you trust its sender, \
                increase the limits (YAMLLimits).
                """)
    }

    /// The count can exceed the range of an integer.
    @Test func countsDoNotOverflow() throws {
        let limits = YAMLLimits(
            maximumSize: .max, maximumDepth: .max, maximumNodes: .max, maximumScalarLength: 9, maximumMappingCount: .max
        )
        let aliases = (1...99).reduce("a0: &a0 x\n") { $0 + "a\($1): &a\($1) [*a\($1 - 1), *a\($1 - 1)]\n" }
        let merges = (1...99).reduce("m0: &m0 {x: 1}\n") {
            $0 + "m\($1): &m\($1) {<<: [*m\($1 - 1), *m\($1 - 1)]}\n"
        }
        #expect(try Self.limit(aliases + merges + "end: is too long", limits)?.limit == .scalarLength)
    }

    @Test func trustedDocumentsCanBeLarge() throws {
        let limits = YAMLLimits(
            maximumSize: .max, maximumDepth: .max, maximumNodes: .max, maximumScalarLength: .max,
            maximumMappingCount: .max)
        #expect(try Self.limit(String(repeating: "[", count: 500) + String(repeating: "]", count: 500), limits) == nil)
    }
}
