import Afar
import Foundation

/// The file of default options: one option per line.
struct DefaultsFile {
    /// An option with its value, if any.
    struct Entry: Equatable {
        var line: Int
        var option: String
        var value: String?
    }

    private static let sizeLimit = 64 * 1024

    var path: String
    var entries: [Entry]

    /// The user's file. Nil if it doesn't exist. If others can change the file, it's ignored with a warning.
    static func read() throws -> DefaultsFile? {
        let path = OwnFile.baseFolder("XDG_CONFIG_HOME", default: ".config") + "/afar/config"
        do {
            guard let data = try OwnFile.contents(of: path, limit: sizeLimit) else { return nil }
            guard let text = String(data: data, encoding: .utf8) else {
                throw Failure(.usage, "\(path) isn't UTF-8 text. To run without it, add --no-config.")
            }
            return try DefaultsFile(path: path, text: text)
        } catch OwnFile.Problem.writableByOthers {
            warn("\(path) is ignored: \(OwnFile.Problem.writableByOthers.text)")
            return nil
        } catch let problem as OwnFile.Problem {
            throw Failure(
                .usage, "\(path) cannot be read: \(problem.text). To run without it, add --no-config.")
        }
    }

    init(path: String, text: String) throws {
        self.path = path
        entries = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = try Self.words(of: line) { Self.failure(path, line: index + 1, $0) }
            guard let first = words.first else { continue }
            guard first.hasPrefix("-"), first.count > 1 else {
                throw Self.failure(path, line: index + 1, "write one option per line, such as --timeout 30")
            }
            var (option, values) = (first, words.dropFirst())
            if first.hasPrefix("--"), let sign = first.firstIndex(of: "=") {
                option = String(first[..<sign])
                values.insert(String(first[first.index(after: sign)...]), at: values.startIndex)
            } else if !first.hasPrefix("--"), first.count > 2 {
                // A short option with its value, such as -m30.
                option = String(first.prefix(2))
                values.insert(String(first.dropFirst(2)), at: values.startIndex)
            }
            guard values.count <= 1 else {
                throw Self.failure(
                    path, line: index + 1, "write one option per line, and quotes around a value with spaces")
            }
            entries.append(Entry(line: index + 1, option: option, value: values.first))
        }
    }

    /// Returns the failure of a line. The message contains no value, which can be a secret.
    func failure(_ entry: Entry, _ reason: String, end: String = ".") -> Failure {
        Failure(.usage, "\(place(entry)): \(reason)\(end)")
    }

    /// The file and the line of an entry.
    func place(_ entry: Entry) -> String { "\(path), line \(entry.line)" }

    private static func failure(_ path: String, line: Int, _ reason: String) -> Failure {
        Failure(.usage, "\(path), line \(line): \(reason).")
    }

    static func warn(_ message: String) {
        StandardError.write("afar: WARNING: \(TerminalText.line(message)).\n")
    }

    /// Splits a line into words. Quotes and backslashes work as in a shell. A word that begins with "#" begins a comment.
    private static func words(of line: Substring, _ failure: (String) -> Failure) throws -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var characters = line[...]
        while let next = characters.popFirst() {
            if let open = quote {
                if next == open {
                    quote = nil
                } else if next == "\\", open == "\"", let escaped = characters.first, "\"\\".contains(escaped) {
                    word = (word ?? "") + String(characters.removeFirst())
                } else {
                    word = (word ?? "") + String(next)
                }
            } else if next == "'" || next == "\"" {
                (quote, word) = (next, word ?? "")
            } else if next == "\\", let escaped = characters.popFirst() {
                word = (word ?? "") + String(escaped)
            } else if next.isWhitespace {
                if let word { words.append(word) }
                word = nil
            } else if next == "#", word == nil {
                break
            } else {
                word = (word ?? "") + String(next)
            }
        }
        if let quote { throw failure("the quote \(quote) isn't closed") }
        return words + [word].compactMap(\.self)
    }
}
