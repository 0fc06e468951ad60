import Afar
import AfarCore
import Foundation

/// A part of a form, written as for curl's `-F`: `name=value`, or `name=@path;type=image/png;filename=x`.
struct FormPart: Equatable {
    enum Content: Equatable {
        case text(String)
        case file(path: String, type: String, name: String)
    }

    var name: String
    var content: Content

    /// Reads a part. A value without `@` is taken as it is. A path, a type or a file name with a semicolon stands in
    /// double quotes, in which a backslash goes before a quote or another backslash.
    init(_ text: String) throws {
        let pair = try NamedValue(text, option: "--part")
        name = pair.name
        guard pair.value.hasPrefix("@") else {
            content = .text(pair.value)
            return
        }
        var rest = pair.value.dropFirst()
        let path = try Self.word(&rest, of: text)
        var (type, fileName): (String?, String?)
        while !rest.isEmpty {
            let key = rest.dropFirst().prefix { $0 != "=" && $0 != ";" }
            rest = rest.dropFirst(key.count + 1)
            guard rest.hasPrefix("="), ["type", "filename"].contains(key) else {
                throw Failure(
                    .usage, "--part \(text): after the path come ;type=… and ;filename=… only. Quote it: @\"a;b.txt\"")
            }
            rest.removeFirst()
            let value = try Self.word(&rest, of: text)
            if key == "type" { type = value } else { fileName = value }
        }
        try Self.check(path, of: text)
        content = .file(
            path: path, type: type ?? MIMETypes.type(ofFileNamed: path),
            name: fileName ?? URL(filePath: path).lastPathComponent)
    }

    /// Takes a word off the front: in quotes, or up to the next semicolon.
    private static func word(_ rest: inout Substring, of text: String) throws -> String {
        guard rest.hasPrefix("\"") else {
            let word = rest.prefix { $0 != ";" }
            rest = rest.dropFirst(word.count)
            return String(word)
        }
        rest.removeFirst()
        var word = ""
        while let next = rest.popFirst() {
            switch next {
            case "\\": word += rest.popFirst().map(String.init) ?? ""
            case "\"" where rest.isEmpty || rest.hasPrefix(";"): return word
            case "\"": throw Failure(.usage, "--part \(text): after a quote comes the end or a semicolon.")
            default: word.append(next)
            }
        }
        throw Failure(.usage, "--part \(text): a quote is missing at the end.")
    }

    private static func check(_ path: String, of text: String) throws {
        var status = stat()
        guard path != "-" else {
            throw Failure(.usage, "--part \(text): a part must have a length, so it cannot be the standard input.")
        }
        guard stat(path, &status) == 0 else {
            throw Failure(.usage, "--part \(text): \(path): \(Failure.systemReason).")
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.usage, "--part \(text): \(path) is not a plain file.")
        }
    }

    func append(to form: MultipartFormData) {
        switch content {
        case .text(let text): form.append(Data(text.utf8), withName: name)
        case .file(let path, let type, let fileName):
            form.append(URL(filePath: path), withName: name, fileName: fileName, mimeType: type)
        }
    }

    /// The same for curl.
    var curlWords: [String] {
        switch content {
        case .text(let text): ["--form-string", "\(name)=\(text)"]
        case .file(let path, let type, let fileName):
            ["-F", "\(name)=@\(Self.quoted(path));type=\(Self.quoted(type));filename=\(Self.quoted(fileName))"]
        }
    }

    private static func quoted(_ text: String) -> String {
        guard text.contains(where: { ";,\"\\".contains($0) }) else { return text }
        return "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
    }
}
