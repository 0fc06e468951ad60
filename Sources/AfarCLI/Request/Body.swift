import ArgumentParser
import Foundation

/// A request's body and its content type.
struct Body: Equatable {
    var bytes: Data
    var contentType: String
    /// The file that the bytes were read from, if any.
    var path: String?

    /// Creates the body that the options describe, or returns nil if they describe none.
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

    /// Creates a body and detects its content type.
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

    /// Returns a JSON object of "name=text" and "name:=value" members, in the given order.
    static func jsonObject(_ members: [String]) throws -> String {
        var names: Set<String> = []
        let lines = try members.map { member in
            var pair = try NamedValue(member, option: "--json")
            var value = JSONText.string(pair.value)
            if pair.name.hasSuffix(":") {
                guard JSONText.isValid(pair.value) else {
                    // The message omits the value, which can be a secret.
                    throw Failure(
                        .usage,
                        "--json \(pair.name)=…: := requires a JSON value, such as 3, true or [1,2]. For text, write "
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
            let reason = FileManager.default.fileExists(atPath: path) ? "cannot be read" : "doesn't exist"
            throw Failure(.usage, "--data @\(path): the file \(reason).")
        }
    }
}

/// The options for a request's ``Body``.
struct BodyOptions: ParsableArguments {
    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "A member of a JSON object: name=text, or name:=3 for any JSON value. Can be repeated.",
            valueName: "name=value"))
    var json: [String] = []

    @Option(
        parsing: .unconditionalSingleValue,
        help: ArgumentHelp("A field of a URL-encoded form. Can be repeated.", valueName: "name=value"))
    var form: [String] = []

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            """
            The exact body: text, @file, or - for the standard input. Without a Content-Type header, valid JSON is sent as \
            JSON, and other UTF-8 as text.
            """,
            valueName: "text|@file|-"))
    var data: String?
}
