import ArgumentParser
import Foundation

/// An option of a command.
struct CommandOption {
    /// All names with their dashes.
    var names: [String]
    var isFlag: Bool

    /// The long name, if there is one.
    var name: String { names.first { $0.hasPrefix("--") } ?? names.first ?? "" }

    /// Returns the name to use for a name in a file: a long name for a short one.
    func name(for text: String) -> String { text.hasPrefix("--") ? text : name }

    /// The parser's description of a command.
    private struct Description: Decodable {
        struct Command: Decodable { var arguments: [Argument]? }
        struct Argument: Decodable {
            var kind: String
            var names: [Name]?
        }
        struct Name: Decodable {
            var kind: String
            var name: String
        }

        var command: Command
    }

    static func all(of command: any ParsableCommand.Type) -> [CommandOption] {
        let description = try? JSONDecoder().decode(Description.self, from: Data(command._dumpHelp().utf8))
        return (description?.command.arguments ?? []).compactMap { argument in
            guard argument.kind != "positional", let names = argument.names else { return nil }
            return CommandOption(
                names: names.map { ($0.kind == "long" ? "--" : "-") + $0.name }, isFlag: argument.kind == "flag")
        }
    }
}

// MARK: - Values that the parser misreads

extension CommandOption {
    /// Returns the arguments with each value joined to the long name of its option: `-sm1` becomes `-s --timeout=1`, and `-d ---x` becomes
    /// `--data=---x`. The parser misreads a value after a cluster of flags, a value with an equals sign directly after a short name, and a value
    /// that begins with three dashes.
    static func joiningValues(in arguments: [String]) -> [String] {
        let options = byName(ofCommandIn: arguments)
        var result: [String] = []
        var words = arguments[...]
        while let word = words.popFirst() {
            guard word != "--" else { return result + [word] + words }
            guard let (flags, option, value) = cluster(word, options), let value = value ?? words.popFirst() else {
                result.append(word)
                continue
            }
            if !flags.isEmpty { result.append("-\(flags)") }
            // After an equals sign, the parser ignores an empty value.
            result += value.isEmpty ? [option.name, value] : ["\(option.name)=\(value)"]
        }
        return result
    }

    /// Returns the options of the command in a command line by their names.
    static func byName(ofCommandIn arguments: some Collection<String>) -> [String: CommandOption] {
        let command = AfarTool.configuration.subcommands.first { $0._commandName == arguments.first }
        return Dictionary(
            all(of: command ?? RequestCommand<AnyRequest>.self).flatMap { option in option.names.map { ($0, option) } },
            uniquingKeysWith: { first, _ in first })
    }

    /// Splits an argument into flags, an option with a value, and this value; nil if the argument ends with a flag or isn't an option.
    /// The value is nil if it's the next argument.
    static func cluster(
        _ word: String, _ options: [String: CommandOption]
    ) -> (flags: Substring, option: CommandOption, value: String?)? {
        if let option = options[word] { return option.isFlag ? nil : ("", option, nil) }
        guard word.hasPrefix("-"), !word.hasPrefix("--") else { return nil }
        let letters = word.dropFirst()
        guard let index = letters.firstIndex(where: { options["-\($0)"]?.isFlag != true }),
            let option = options["-\(letters[index])"]
        else { return nil }
        let value = letters[letters.index(after: index)...]
        return (letters[..<index], option, value.isEmpty ? nil : String(value))
    }
}
