import Afar
import AfarCore
import AfarTrust
import Foundation
import HTTPTypes

/// A complete response.
struct ComparedResponse {
    var head: ResponseHead
    /// The body after content decoding.
    var body: Data

    /// The body as text, or nil if it's binary.
    var text: String? {
        guard let text = try? TextDecoding.automatic.decode(body, as: head.mediaType).text, !TerminalText.isBinary(text)
        else { return nil }
        return text
    }

    fileprivate var digest: String {
        body.withUnsafeBytes { HashFunction.sha256.hash(of: $0)?.hexDigits } ?? "unknown"
    }

    fileprivate var binarySummary: String {
        "\(Quantity.count(body.count, of: "byte")), SHA-256 \(digest)"
    }
}

/// The differences between two responses.
struct ResponseDifference {
    /// A line of the first response, of the second, or of both.
    enum Line: Equatable {
        case first(String)
        case second(String)
        case both(String)
        /// The beginning of a section.
        case title(String)
        case note(String)
    }

    private let responses: (ComparedResponse, ComparedResponse)
    private let status: [Line]
    private let fields: [FieldDifference]
    private let body: BodyDifference

    /// A field with different values.
    struct FieldDifference: Equatable {
        var name: String
        var first: [String]
        var second: [String]
    }

    /// The fields that often differ between two responses to the same request. The second line below contains fields about
    /// the connection and the body's encoding. Bodies are compared after decoding. The third line contains common request IDs.
    static let volatileFields: Set<String> = [
        "age", "date", "expires", "last-modified", "server-timing", "x-runtime",
        "alt-svc", "connection", "content-encoding", "keep-alive", "transfer-encoding", "vary",
        "cf-ray", "traceparent", "x-amz-cf-id", "x-amzn-trace-id", "x-correlation-id", "x-request-id", "x-trace-id",
    ]

    init(_ first: ComparedResponse, _ second: ComparedResponse, comparesAllFields: Bool) {
        responses = (first, second)
        status =
            first.head.status == second.head.status
            ? []
            : [.first(StatusLine.text(of: first.head.status)), .second(StatusLine.text(of: second.head.status))]
        body = BodyDifference(first, second)
        fields = Self.fields(
            first.head, second.head,
            ignoring: comparesAllFields
                ? [] : body.isEmpty ? Self.volatileFields.union(["content-length"]) : Self.volatileFields)
    }

    var isEmpty: Bool { status.isEmpty && fields.isEmpty && body.isEmpty }

    private static func fields(_ first: ResponseHead, _ second: ResponseHead, ignoring ignored: Set<String>)
        -> [FieldDifference]
    {
        var names: [String] = []
        var values: [String: FieldDifference] = [:]
        func add(_ head: ResponseHead, _ list: WritableKeyPath<FieldDifference, [String]>) {
            for field in head.fields {
                let name = field.name.canonicalName
                if values[name] == nil { names.append(name) }
                values[name, default: FieldDifference(name: field.name.rawName, first: [], second: [])][keyPath: list]
                    .append(field.value)
            }
        }
        add(first, \.first)
        add(second, \.second)
        return names.filter { !ignored.contains($0) }.compactMap { values[$0] }.filter { $0.first != $0.second }
    }

    // MARK: Output

    private var lines: [Line] {
        var lines: [Line] = []
        if !status.isEmpty { lines += [.title("status")] + status }
        if !fields.isEmpty { lines.append(.title("fields")) }
        for field in fields {
            lines += field.first.map { .first("\(field.name): \($0)") }
            lines += field.second.map { .second("\(field.name): \($0)") }
        }
        return lines + body.lines
    }

    /// Returns the differences in the style of `diff -u`.
    ///
    /// - Parameter names: The names of the responses.
    func text(names: (String, String), style: Style) -> String {
        let names = (TerminalText.line(names.0), TerminalText.line(names.1))
        let heading = [style.paint("--- \(names.0)", .bold), style.paint("+++ \(names.1)", .bold)]
        let lines = lines.map { line in
            switch line {
            case .first(let text): style.paint("-" + Self.shown(text, style), .red)
            case .second(let text): style.paint("+" + Self.shown(text, style), .green)
            case .both(let text): " " + Self.shown(text, style)
            case .title(let text): style.paint("@@ \(text) @@", .cyan)
            case .note(let text): style.paint("\\ " + text, .dim)
            }
        }
        return (heading + lines).map { $0 + "\n" }.joined()
    }

    private static func shown(_ text: String, _ style: Style) -> String {
        let text = text.shortened(to: 2000)
        return style.isPretty ? TerminalText.line(text) : text
    }

    /// Returns the members of the JSON report.
    func members(method: String, names: (String, String)) -> [(String, JSONOutput)] {
        func response(_ response: ComparedResponse, _ name: String) -> JSONOutput {
            .object([
                ("source", .string(TerminalText.line(name))), ("status", .integer(Int64(response.head.status))),
                ("bytes", .integer(Int64(response.body.count))), ("sha256", .string(response.digest)),
            ])
        }
        func values(_ field: FieldDifference, _ values: [String]) -> JSONOutput {
            .array(values.map { .string(Redaction.standard.value($0, of: field.name)) })
        }
        return [
            ("method", .string(method)),
            ("first", response(responses.0, names.0)), ("second", response(responses.1, names.1)),
            ("isEqual", .bool(isEmpty)),
            (
                "fields",
                .array(
                    fields.map {
                        .object([
                            ("name", .string($0.name)), ("first", values($0, $0.first)),
                            ("second", values($0, $0.second)),
                        ])
                    })
            ),
            (
                "body",
                .object([
                    ("kind", .string(body.kind)), ("isEqual", .bool(body.isEmpty)),
                    ("count", body.count.map { .integer(Int64($0)) } ?? .null),
                    ("paths", .array(body.paths.map { .string($0) })),
                ])
            ),
        ]
    }
}

/// The differences between two bodies.
enum BodyDifference {
    /// The bodies have the same bytes.
    case none
    case json(JSONDifferences)
    case text([ResponseDifference.Line])
    case binary([ResponseDifference.Line])

    init(_ first: ComparedResponse, _ second: ComparedResponse) {
        guard first.body != second.body else {
            self = .none
            return
        }
        guard let firstText = first.text, let secondText = second.text else {
            self = .binary([.first(first.binarySummary), .second(second.binarySummary)])
            return
        }
        if let firstValue = JSONNode(firstText), let secondValue = JSONNode(secondText) {
            self = .json(JSONDifferences(firstValue, secondValue))
        } else {
            self = .text(TextDifference.lines(firstText, secondText))
        }
    }

    var isEmpty: Bool {
        switch self {
        case .none: true
        case .json(let differences): differences.count == 0
        case .text(let lines), .binary(let lines): lines.isEmpty
        }
    }

    var kind: String {
        switch self {
        case .none: "identical"
        case .json: "json"
        case .text: "text"
        case .binary: "binary"
        }
    }

    /// The number of different JSON values; nil if the bodies weren't compared as JSON.
    var count: Int? {
        guard case .json(let differences) = self else { return nil }
        return differences.count
    }

    /// The paths of the first JSON values that differ.
    var paths: [String] {
        guard case .json(let differences) = self else { return [] }
        return differences.first.map(\.path)
    }

    var lines: [ResponseDifference.Line] {
        switch self {
        case .none: []
        case .json(let differences):
            differences.count == 0 ? [] : [.title("body, JSON")] + differences.lines
        case .text(let lines): lines
        case .binary(let lines): [.title("body, binary")] + lines
        }
    }
}
