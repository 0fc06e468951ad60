import Afar
import ArgumentParser
import Foundation

/// A request's body.
enum Body: Equatable {
    /// Bytes in memory.
    case bytes(Data, contentType: String, path: String? = nil)
    /// A multipart form, whose files are read while they are sent.
    case form([FormPart])

    /// Creates the body that the options and items describe, or returns nil if they describe none.
    ///
    /// - Throws: A ``Failure`` if they describe several bodies.
    init?(_ options: BodyOptions, items: [RequestItem] = []) throws {
        let files = items.filter { $0.kind == .file }
        let format = options.format ?? (files.isEmpty ? .json : .multipart)
        let kinds =
            [
                ("request items", !items.isEmpty), ("--json", !options.json.isEmpty), ("--form", !options.form.isEmpty),
                ("--raw", options.raw != nil), ("--part", !options.part.isEmpty),
            ]
            .filter(\.1).map(\.0) + options.dataNames.prefix(1)
        let canCombine = kinds == ["request items", "--json"] && format == .json && !options.hasJSONText
        guard kinds.count <= 1 || canCombine else {
            let isForm = kinds.first == "request items" && kinds.contains("--form")
            let advice = isForm ? ForeignOption.misuse(of: "--form").map { " \($0)" } ?? "" : ""
            throw Failure(
                .usage, "A request has one body: choose between \(kinds.joined(separator: " and ")).\(advice)")
        }
        if !items.isEmpty, format != .json {
            try self.init(items, as: files.isEmpty ? format : .multipart)
        } else if options.hasJSONText {
            self = try .jsonText(options.json)
        } else if !items.isEmpty || !options.json.isEmpty {
            if let file = files.first {
                throw Failure(.usage, "\(file.label) is a file, which requires --as multipart. For its text, write =@.")
            }
            self = .json(try JSONTree.text(of: options.json.map { try RequestItem(jsonOption: $0) } + items))
        } else if !options.form.isEmpty {
            self = .urlEncoded(try options.form.map { try NamedValue($0, option: "--form") }.urlEncoded)
        } else if let data = try options.formData() {
            self = .urlEncoded(data)
        } else if let raw = options.raw {
            let path = raw.hasPrefix("@") && raw != "@-" ? String(raw.dropFirst()) : nil
            let bytes =
                try path.map { try InputBytes.file($0, option: "--raw @\($0)") }
                ?? InputBytes.text(raw == "@-" ? "-" : raw)
            self = .bytes(bytes, contentType: Self.contentType(of: bytes), path: path)
        } else if !options.part.isEmpty {
            self = .form(try options.part.map { try FormPart($0) })
        } else {
            return nil
        }
    }

    /// Creates a form of items.
    private init(_ items: [RequestItem], as format: BodyFormat) throws {
        guard format == .multipart else {
            let fields = try items.map { NamedValue(name: $0.name.text, value: try $0.text) }
            self = .urlEncoded(fields.urlEncoded)
            return
        }
        self = .form(
            try items.map { item in
                if item.kind == .file {
                    return try FormPart(name: item.name.text, value: "@\(item.value)", of: item.label)
                }
                return FormPart(name: item.name.text, content: .text(try item.text))
            })
    }

    private static func json(_ text: String) -> Body { .bytes(Data(text.utf8), contentType: "application/json") }

    /// Creates a body of JSON texts or files, which are joined without a separator, as in curl.
    private static func jsonText(_ values: [String]) throws -> Body {
        let pieces = try values.map { value in
            guard value.hasPrefix("@") else { return Data(value.utf8) }
            return try InputBytes.contents(of: String(value.dropFirst()), option: "--json \(value)")
        }
        let bytes = Data(pieces.joined())
        guard values.count == 1 || MisplacedWords.isJSON(String(decoding: bytes, as: UTF8.self)) else {
            throw Failure(
                .usage,
                "The values of --json can't be joined. Use one JSON text, one @file, or name=value for each member.")
        }
        let path = values.count == 1 && values[0] != "@-" && values[0].hasPrefix("@") ? values[0].dropFirst() : nil
        return .bytes(bytes, contentType: "application/json", path: path.map { String($0) })
    }

    private static func urlEncoded(_ text: String) -> Body { urlEncoded(Data(text.utf8)) }

    private static func urlEncoded(_ bytes: Data) -> Body { .bytes(bytes, contentType: formType) }

    private static let formType = "application/x-www-form-urlencoded"

    /// Whether this is JSON text with the content type of a form, such as the one of `-d '{"a":1}'`.
    var isJSONInForm: Bool {
        guard case .bytes(let bytes, Self.formType, _) = self else { return false }
        return MisplacedWords.isJSON(String(decoding: bytes, as: UTF8.self))
    }

    /// The bytes; nil for a multipart form.
    var bytes: Data? {
        if case .bytes(let bytes, _, _) = self { bytes } else { nil }
    }

    /// The content type; nil for a multipart form, because the library sets it.
    var contentType: String? {
        if case .bytes(_, let contentType, _) = self { contentType } else { nil }
    }

    /// Detects the content type of bytes.
    static func contentType(of bytes: Data) -> String {
        guard let text = String(data: bytes, encoding: .utf8) else { return "application/octet-stream" }
        let isJSON = text.first { !$0.isWhitespace }.map { "{[".contains($0) } == true && JSONText.isValid(text)
        return isJSON ? "application/json" : "text/plain; charset=utf-8"
    }

    /// Returns the equivalent body for curl.
    ///
    /// - Parameter type: The value of `Content-Type`, if the request has it.
    func curlBody(_ redaction: Redaction, type: String?) -> CurlCommand.Body {
        switch self {
        case .bytes(_, _, let path?): return .file(path: path)
        case .bytes(let bytes, let ownType, nil):
            return .data(redaction.body(bytes, type: isJSONInForm ? "application/json" : type ?? ownType))
        case .form(let parts): return .form(words: parts.flatMap { $0.curlWords(redaction) })
        }
    }
}

extension RequestItem {
    /// Creates the item of `--json`, whose name is used verbatim.
    fileprivate init(jsonOption text: String) throws {
        let pair = try NamedValue(text, option: "--json")
        let isJSON = pair.name.last == ":"
        self.init(
            kind: isJSON ? .json : .text, name: ItemName(verbatim: isJSON ? String(pair.name.dropLast()) : pair.name),
            value: pair.value)
    }
}

/// Bytes that an argument contains or names.
enum InputBytes {
    /// The standard input, which several requests can send.
    private static let standardInput = Locked<Data?>(nil)

    /// Returns the text of an argument, or the standard input for `-`.
    static func text(_ text: String) throws -> Data {
        guard text == "-" else { return Data(text.utf8) }
        return try standardInput.withLock { input throws in
            let bytes = try input ?? FileHandle.standardInput.readToEnd() ?? Data()
            input = bytes
            return bytes
        }
    }

    /// Returns the value of `--data`: text, or a file or the standard input without line breaks and null characters, as in curl.
    static func data(_ argument: String, option: String = "--data") throws -> Data {
        guard argument.hasPrefix("@") else { return Data(argument.utf8) }
        let bytes = try contents(of: String(argument.dropFirst()), option: "\(option) \(argument)")
        return bytes.filter { $0 != 0 && $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    }

    /// Returns the contents of a file, or the standard input for `-`.
    static func contents(of path: String, option: String) throws -> Data {
        try path == "-" ? text("-") : file(path, option: option)
    }

    /// Returns the contents of a file.
    static func file(_ path: String, option: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            let reason = FileManager.default.fileExists(atPath: path) ? "cannot be read" : "doesn't exist"
            throw Failure(.usage, "\(option): the file \(reason).")
        }
    }
}

/// The format of a body of request items.
enum BodyFormat: String, CaseIterable, ExpressibleByArgument {
    case json, form, multipart
}

/// The options for a request's ``Body``.
struct BodyOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A member of a JSON object: name=text, or name:=3 for any JSON value. Can be repeated. Or the whole body, as in \
            curl: a JSON object or array, or @file. Accept: application/json is sent with it.
            """,
            valueName: "name=value|json|@file"))
    var json: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A field of a URL-encoded form. Can be repeated.", valueName: "name=value"))
    var form: [String] = []

    @Option(
        name: [.customShort("d", allowingJoined: true), .long], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A URL-encoded form, as in curl: text that is already encoded, or a file without its line breaks. Several are \
            joined by &. Sent as application/x-www-form-urlencoded unless -H sets the type.
            """,
            valueName: "text|@file|@-"))
    var data: [String] = []

    @Option(
        parsing: .unconditional, help: ArgumentHelp("Like --data, for text that can begin with @.", valueName: "text"))
    var dataRaw: String?

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            Like --data, percent-encoded: text, name=text, @file or name@file. Can be repeated, and follows the values of \
            --data.
            """, valueName: "data"))
    var dataUrlencode: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The exact body: text, @file, or - for the standard input. Without a Content-Type header, valid JSON is sent as \
            JSON, and other UTF-8 as text.
            """,
            valueName: "text|@file|-"))
    var raw: String?

    @Option(
        name: [.customShort("F", allowingJoined: true), .long], parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            """
            A part of a multipart form: name=value, name=@path for a file, or name=<path for the text in a file. \
            ;type=… can follow a value, and ;type=… and ;filename=… a path. Can be repeated.
            """,
            valueName: "part"))
    var part: [String] = []

    @Option(
        name: .customLong("as"),
        help: "The format of the body of request items. (default: json, or multipart if one is a file)")
    var format: BodyFormat?

    /// The names of the options for ``formData()``.
    fileprivate var dataNames: [String] {
        [
            ("--data", !data.isEmpty), ("--data-raw", dataRaw != nil), ("--data-urlencode", !dataUrlencode.isEmpty),
        ].filter(\.1).map(\.0)
    }

    /// Returns the data of `--data` and similar options, joined by "&"; nil without these options.
    func formData() throws -> Data? {
        guard !dataNames.isEmpty else { return nil }
        var pieces = try data.map { try InputBytes.data($0) }
        if let dataRaw { pieces.append(Data(dataRaw.utf8)) }
        for value in dataUrlencode.map(URLEncodedValue.init) {
            // Text with @ isn't always meant to be the name of a file, and can be a secret.
            let option = "--data-urlencode (write =text for text with @)"
            let bytes =
                value.isFile ? try InputBytes.contents(of: value.content, option: option) : Data(value.content.utf8)
            pieces.append(Data(value.encoded(bytes).utf8))
        }
        return Data(pieces.joined(separator: [UInt8(ascii: "&")]))
    }

    /// Whether `--json` contains the whole body instead of members.
    var hasJSONText: Bool {
        json.contains { $0.hasPrefix("@") || MisplacedWords.isJSON($0) }
            || json.count > 1 && MisplacedWords.isJSON(json.joined())
    }
}
