import ArgumentParser
import Foundation

/// A request's body and what it is.
struct Body: Equatable {
    var bytes: Data
    var contentType: String
    /// The file that the bytes were read from; nil when they came another way.
    var path: String?

    /// Makes the body that the options describe; nil when they describe none.
    init?(_ options: BodyOptions) throws {
        let kinds = [
            ("--json", !options.json.isEmpty), ("--form", !options.form.isEmpty), ("--data", options.data != nil),
        ]
        .filter(\.1).map(\.0)
        guard kinds.count <= 1 else {
            throw Failure(.usage, "A request has one body: choose between \(kinds.joined(separator: " and ")).")
        }
        if !options.json.isEmpty {
            self.init(bytes: Data(try Self.jsonObject(options.json).utf8), contentType: "application/json")
        } else if !options.form.isEmpty {
            let fields = try options.form.map { try NamedValue($0, option: "--form") }
            self.init(bytes: Data(fields.urlEncoded.utf8), contentType: "application/x-www-form-urlencoded")
        } else if let data = options.data {
            let path = data.hasPrefix("@") ? String(data.dropFirst()) : nil
            self.init(bytes: try path.map(Self.contents) ?? Self.read(data))
            self.path = path
        } else {
            return nil
        }
    }

    init(bytes: Data, contentType: String) {
        self.bytes = bytes
        self.contentType = contentType
    }

    /// Makes a body of unknown bytes and looks at them for the content type.
    init(bytes: Data) {
        let text = String(data: bytes, encoding: .utf8)
        let isJSON = text.map {
            $0.first { !$0.isWhitespace }.map { "{[".contains($0) } == true && JSONText.isValid($0)
        }
        let contentType =
            switch (text, isJSON) {
            case (nil, _): "application/octet-stream"
            case (_, true): "application/json"
            default: "text/plain; charset=utf-8"
            }
        self.init(bytes: bytes, contentType: contentType)
    }

    /// A JSON object of "name=text" and "name:=value", with the members in the order given.
    static func jsonObject(_ members: [String]) throws -> String {
        var names: Set<String> = []
        let lines = try members.map { member in
            var pair = try NamedValue(member, option: "--json")
            var value = JSONText.string(pair.value)
            if pair.name.hasSuffix(":") {
                guard JSONText.isValid(pair.value) else {
                    // The value may be a secret.
                    throw Failure(
                        .usage,
                        "--json \(pair.name)=…: after := comes a JSON value, such as 3, true or [1,2]; for text write "
                            + "\(pair.name.dropLast())=…")
                }
                pair.name.removeLast()
                value = pair.value.trimmingCharacters(in: .whitespacesAndNewlines)
            }
            guard names.insert(pair.name).inserted else {
                throw Failure(.usage, "--json names \"\(pair.name)\" twice.")
            }
            return "\(JSONText.string(pair.name)):\(value)"
        }
        return "{\(lines.joined(separator: ","))}"
    }

    private static func read(_ text: String) throws -> Data {
        text == "-" ? try FileHandle.standardInput.readToEnd() ?? Data() : Data(text.utf8)
    }

    private static func contents(of path: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(filePath: path))
        } catch {
            let reason = FileManager.default.fileExists(atPath: path) ? "it cannot be read" : "there is none"
            throw Failure(.usage, "--data @\(path) means a file, but \(reason).")
        }
    }
}

// MARK: - Options

/// What a request can carry. ``Body`` makes bytes of it.
struct BodyOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A member of a JSON object: name=text, or name:=3 for any JSON value. Repeat it for more.",
            valueName: "name=value"))
    var json: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A field of a URL-encoded form. Repeat it for more.", valueName: "name=value"))
    var form: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The body as it is: a text, @file, or - for the standard input. Without a Content-Type header it is sent as \
            JSON if it is JSON, else as text if it is UTF-8.
            """,
            valueName: "text|@file|-"))
    var data: String?
}
