import Afar
import ArgumentParser
import Foundation

/// Advice for command lines in which an option received the URL, or in which an argument belongs to another option.
enum MisplacedWords {
    /// Returns the advice for a missing URL, if an option received a URL as its value.
    ///
    /// - Parameter arguments: The command line.
    static func adviceForMissingURL(in arguments: [String]) -> String? {
        for (option, value) in zip(arguments, arguments.dropFirst()) where option.hasPrefix("-") && isURL(value) {
            guard option.wholeMatch(of: /-[A-Za-z]|--[a-z][a-z0-9-]*/) != nil else { continue }
            return
                "The URL is missing, because \(option) takes the next argument. Write the value of \(option) before the URL."
                + otherMeaning(of: option)
        }
        return nil
    }

    /// Returns what to write instead of an argument after the URL, for commands that take a file or a message in another way.
    static func adviceForUnexpectedArgument(of command: String) -> String? {
        switch command {
        case Upload._commandName: "afar upload takes the file as an option: afar upload URL --file FILE"
        case OpenWebSocket._commandName: "afar ws sends the lines of the standard input: echo MESSAGE | afar ws URL"
        default: nil
        }
    }

    /// Checks that no long option has an empty value after "=". The parser would use the next argument, such as the URL, as its value.
    static func checkValues(in arguments: [String]) throws {
        let words = arguments.prefix { $0 != "--" }
        func isEmpty(_ word: String) -> Bool { word.hasSuffix("=") && word.wholeMatch(of: /--[a-z][a-z0-9-]*=/) != nil }
        // afar curl has curl's syntax.
        guard words.contains(where: isEmpty), words.first != CurlCommandLine._commandName else { return }
        let options = CommandOption.byName(ofCommandIn: words)
        var isValue = false
        for word in words {
            if !isValue, isEmpty(word) {
                let name = String(word.dropLast())
                let isFlag = options[name]?.isFlag == true
                throw Failure(
                    .usage,
                    "\(word) has no value. "
                        + (isFlag
                            ? "\(name) takes none: remove the equals sign."
                            : "Write it after the equals sign. For an empty value, write \(name) ''."))
            }
            isValue = !isValue && CommandOption.cluster(word, options).map { $0.value == nil } ?? false
        }
    }

    /// Returns the failure of a command line whose first argument is a request item instead of a URL; nil if it can be a URL.
    static func failure(forItemInsteadOfURL word: String, in arguments: [String] = CommandLine.arguments) -> Failure? {
        let host = word.prefix { !"/?#".contains($0) }
        guard !word.contains("://"), host.contains("="), let item = try? RequestItem(word) else { return nil }
        let advice =
            adviceForMissingURL(in: arguments)
            ?? "The URL is missing. Write it before the items, as in \"afar example.com \(item.label)\"."
            + otherMeaningOfBodyOption(in: arguments)
        return Failure(.usage, "\"\(item.label)\" is a request item, not a URL. \(advice)")
    }

    /// Returns what to write instead of an argument that isn't `name=value`. The text begins with a space, unless it's empty.
    static func advice(for text: String, option: String) -> String {
        if isURL(text) {
            return " It's a URL: write the value of \(option) before it."
                + otherMeaning(of: option)
        }
        if RequestWords.usualMethods.contains(text) { return otherMeaning(of: option) }
        guard option == "--form", text.hasPrefix("@"), text.count > 1 else { return "" }
        return " To send a file, write --raw \(text)."
    }

    /// Returns what to write instead of an argument that isn't a request item. The text begins with a space, unless it's empty.
    static func advice(forItem text: String, in arguments: [String] = CommandLine.arguments) -> String {
        if isURL(text) {
            return " It's a URL: write it before the items.\(otherMeaningOfBodyOption(in: arguments))"
        }
        guard text.hasPrefix("@"), text.count > 1 else { return "" }
        return " To send the file as the body, write --raw \(text). To send it in a multipart form, write name\(text)."
    }

    /// Returns advice for users of HTTPie's option with this name. The text begins with a space, unless it's empty.
    private static func otherMeaning(of option: String) -> String {
        ForeignOption.misuse(of: option).map { " \($0)" } ?? ""
    }

    /// Returns advice for users of HTTPie's `--form` or `--json`, if the command line contains it. The text begins with a space, unless
    /// it's empty.
    private static func otherMeaningOfBodyOption(in arguments: [String]) -> String {
        ["--form", "--json"].first(where: arguments.contains).map(otherMeaning) ?? ""
    }

    /// Returns whether the text is a JSON object or array.
    static func isJSON(_ text: String) -> Bool {
        text.first { !$0.isWhitespace }.map { "{[".contains($0) } == true && JSONText.isValid(text)
    }

    /// Returns whether the text looks like a URL: it has a scheme, or it's an address of this machine.
    static func isURL(_ text: String) -> Bool {
        text.prefixMatch(of: /(?i:https?):\/\/./) != nil || text.prefixMatch(of: /(localhost)?:[0-9]+(\/|\?|$)/) != nil
    }
}
