import Afar
import ArgumentParser
import Foundation

/// The arguments of a request: a method if the command has none, the URL, and items.
struct RequestWords: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The URL, and items that add to the request: name=text, name:=3, name==query, Name:header, name@file.",
            valueName: "url"))
    var words: [String]

    /// The usual methods. They can be written in any case.
    static let usualMethods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"]

    /// Returns the method with a name. Methods are case-sensitive (RFC 9110, section 9.1), but "post" is always a mistake for POST.
    static func method(named name: String) -> HTTPMethod {
        let capitals = name.uppercased()
        return HTTPMethod(rawValue: usualMethods.contains(capitals) ? capitals : name)
    }

    /// The syntax of the arguments, for help texts.
    static let syntax = """
        The default method is GET, or POST if there is a body. ITEMS are added to the request:

          name=text    a member of a JSON object, or a field with --as form
          name:=3      a member with any JSON value
          a[b][]=text  a nested member
          name==text   a parameter of the query
          Name:text    a header; "Name:" removes one, "Name;" sends it empty
          name@file    a file in a multipart form
          name=@file   the text of a file, also :=@, ==@ and :@

        A backslash before a separator makes it a part of the name.
        """

    /// What a request is sent to.
    struct Target: Equatable {
        /// The method before the URL, if any.
        var method: HTTPMethod?
        var url: String
        var items: [RequestItem] = []
    }

    /// Returns the parsed arguments.
    ///
    /// - Parameter hasMethod: Whether a method can precede the URL.
    func target(hasMethod: Bool) throws -> Target {
        var words = words[...]
        var method: HTTPMethod?
        if hasMethod, words.count > 1, let word = words.first, Self.isMethod(word) {
            method = Self.method(named: word)
            words = words.dropFirst()
        }
        let url = words.popFirst() ?? ""
        if hasMethod, method == nil, let command = Misspelling.command(meantBy: url) {
            throw Failure(misspelling: url, of: command)
        }
        if let failure = MisplacedWords.failure(forItemInsteadOfURL: url) { throw failure }
        let items = try words.map { word in
            guard !MisplacedWords.isJSON(word) else {
                throw Failure(.usage, "JSON text isn't a request item. To send JSON text, write --json '{…}'.")
            }
            do {
                return try RequestItem(word)
            } catch is RequestItem.NotAnItem {
                let hint =
                    hasMethod && Self.isName(url)
                    ? " For the method \(url.uppercased()), write -X \(url.uppercased())."
                    : MisplacedWords.advice(forItem: word)
                throw Failure(
                    .usage,
                    "\"\(word)\" isn't a request item, such as name=text, name:=3, name==query, Name:header or "
                        + "name@file.\(hint)")
            }
        }
        return Target(method: method, url: url, items: items)
    }

    /// Returns whether a word before a URL is a method: a usual one, or in capitals.
    private static func isMethod(_ word: String) -> Bool {
        isName(word) && (word == word.uppercased() || usualMethods.contains(word.uppercased()))
    }

    private static func isName(_ word: String) -> Bool {
        !word.isEmpty && word.utf8.allSatisfy { $0.isLetter || $0 == UInt8(ascii: "-") }
    }
}

/// Finds the command that a word is meant to be.
enum Misspelling {
    /// Returns the command whose name differs in one letter, or in two if it's long, or has two letters exchanged.
    static func command(meantBy word: String) -> String? {
        guard word.utf8.count <= 12, word.utf8.allSatisfy(\.isLetter) else { return nil }
        return nearest(to: word.lowercased(), in: AfarTool.commandNames + ["help"])
    }

    /// Returns the name that differs in one letter, or in two if it's long, or has two letters exchanged.
    static func nearest(to word: String, in names: [String]) -> String? {
        guard word.utf8.count <= 30 else { return nil }
        let distances = names.map { (name: $0, distance: distance(from: Array(word.utf8), to: Array($0.utf8))) }
        guard let nearest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        return nearest.distance <= (nearest.name.count > 5 ? 2 : 1) ? nearest.name : nil
    }

    /// Returns the number of insertions, deletions, replacements and exchanges of neighbors that change one word into the other.
    private static func distance(from first: [UInt8], to second: [UInt8]) -> Int {
        var rows = [Array(0...second.count)]
        for (i, letter) in first.enumerated() {
            var row = [i + 1]
            for (j, other) in second.enumerated() {
                var cost = min(rows[i][j] + (letter == other ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, letter == second[j - 1], first[i - 1] == other {
                    cost = min(cost, rows[i - 1][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20)
    }
}

/// The options for a request's method.
struct MethodOptions: ParsableArguments {
    @Option(
        name: [.customShort("X", allowingJoined: true), .long],
        help: ArgumentHelp(
            "The method. Common ones such as post are capitalized. (default: GET, or POST with a body)",
            valueName: "method"))
    var method: String?

    @Flag(name: [.customShort("I"), .customLong("head")], help: "Request only the status and the headers (HEAD).")
    var isHead = false

    @Flag(
        name: [.customShort("G"), .customLong("get")],
        help: "Add the text of --data and --data-urlencode to the URL's query instead.")
    var isGet = false

    func validate() throws {
        if isHead, method != nil { throw ValidationError("Choose between -I and --method.") }
        if let method, method.isEmpty || method.contains(where: \.isWhitespace) {
            throw ValidationError("--method requires the name of a method, such as DELETE.")
        }
    }

    /// Returns the method of a request.
    ///
    /// - Parameters:
    ///   - word: The method before the URL, if any.
    ///   - command: The method of the command, if it has one.
    ///   - hasBody: Whether the request has a body.
    func method(word: HTTPMethod?, command: HTTPMethod?, hasBody: Bool) throws -> HTTPMethod {
        let explicit = method.map { RequestWords.method(named: $0) }
        if let other = word ?? command, let choice = explicit ?? (isHead ? .head : nil), choice != other {
            let hint = isHead ? ForeignOption.misuse(of: "-I") : nil
            throw Failure(
                .usage,
                hint ?? "The command requests \(other.rawValue), and an option \(choice.rawValue). Choose one of them.")
        }
        let method = explicit ?? word ?? command ?? (isHead ? .head : isGet || !hasBody ? .get : .post)
        if hasBody, explicit == nil, word == nil, method == .get || method == .head {
            if isHead, let hint = ForeignOption.misuse(of: "-I") { throw Failure(.usage, hint) }
            throw Failure(
                .usage,
                "A \(method.rawValue) request usually has no body. For parameters, use name==text, --query, or -G with "
                    + "--data; for a body, afar post. To send it anyway, add --method \(method.rawValue).")
        }
        return method
    }
}
