import ArgumentParser
import Foundation

/// Adds the options in the ``DefaultsFile`` to a command line.
enum DefaultOptions {
    /// Options that weaken the verification of servers, or print secrets.
    private static let unsafe: Set = ["--insecure", "--insecure-host", "--show-secrets", "--keylog"]
    /// Credentials, which every server would receive.
    private static let credentials: Set = ["--user", "--bearer", "--cookie"]
    private static let secretHeaders: Set = ["authorization", "cookie", "proxy-authorization"]
    /// Options that make no sense in a file, or aren't public.
    private static let excluded: Set = ["--no-config", "--help", "--version", "--default-header"]
    /// Options that can't be combined. If the command line has one of them, the defaults in the same group don't apply.
    private static let groups: [Set<String>] = [
        ["--ipv4", "--ipv6"], ["--no-follow", "--max-redirects"],
        ["--cookie-jar", "--session", "--session-read-only"],
        ["--cache", "--insecure", "--insecure-host", "--replay"],
    ]

    /// Returns the arguments with the default options in front of the command line's own, so that those have precedence.
    static func adding(to arguments: [String]) throws -> [String] {
        guard let first = arguments.first, !arguments.contains("--no-config"),
            !["help", "-h", "--help", "--version"].contains(first), !first.hasPrefix("---"),
            !first.hasPrefix("--generate-completion-script"), !first.hasPrefix("--experimental"),
            let file = try DefaultsFile.read(), !file.entries.isEmpty
        else { return arguments }
        let subcommands = AfarTool.configuration.subcommands
        let named = subcommands.first { $0._commandName == first }
        let command = named ?? RequestCommand<AnyRequest>.self
        let options = try self.options(in: file, for: command, arguments: arguments)
        guard !options.isEmpty else { return arguments }
        return [command._commandName] + options + (named == nil ? arguments : Array(arguments.dropFirst()))
    }

    private static func options(
        in file: DefaultsFile, for command: any ParsableCommand.Type, arguments: [String]
    ) throws -> [String] {
        let known = CommandOption.all(of: command)
        // Only commands that can ignore the file use it.
        let usesFile = known.contains { $0.name == "--no-config" }
        var result: [String] = []
        for entry in file.entries {
            guard let option = known.first(where: { $0.names.contains(entry.option) }) else {
                try checkElsewhere(entry, in: file)
                continue
            }
            guard usesFile, try isAllowed(entry, option, in: file) else { continue }
            let name = option.name(for: entry.option)
            let rivals = groups.filter { $0.contains(name) }.flatMap(\.self)
            let isReplaced = known.contains { other in
                rivals.contains(other.name) && other.isIn(arguments)
            }
            guard !isReplaced else { continue }
            switch (name, entry.value) {
            // The command line's headers replace these. Options would be combined.
            case ("--header", let value?): result.append("--default-header=\(value)")
            case ("--user-agent", let value?): result.append("--default-header=User-Agent: \(value)")
            case (_, let value?): result += name.hasPrefix("--") ? ["\(name)=\(value)"] : [name, value]
            case (_, nil): result.append(name)
            }
        }
        return result
    }

    /// Returns whether the option can be in the file. Otherwise, prints a warning.
    private static func isAllowed(_ entry: DefaultsFile.Entry, _ option: CommandOption, in file: DefaultsFile) throws
        -> Bool
    {
        guard !excluded.contains(option.name) else {
            throw file.failure(entry, "\(entry.option) can't be a default")
        }
        guard option.isFlag == (entry.value == nil) else {
            throw file.failure(entry, "\(entry.option) \(option.isFlag ? "has no value" : "requires a value")")
        }
        var reason: String?
        if unsafe.contains(option.name) { reason = "it's only allowed on the command line" }
        let header = option.name == "--header" ? entry.value.map { $0.prefix { $0 != ":" && $0 != ";" } } : nil
        let isSecret = header.map { secretHeaders.contains($0.lowercased().trimmingCharacters(in: .whitespaces)) }
        if credentials.contains(option.name) || isSecret == true {
            reason = "every server would receive it; use --session or --netrc"
        }
        if let reason {
            DefaultsFile.warn("\(file.path), line \(entry.line): \(entry.option) is ignored, because \(reason)")
        }
        return reason == nil
    }

    /// Throws the failure of an option that no command has.
    private static func checkElsewhere(_ entry: DefaultsFile.Entry, in file: DefaultsFile) throws {
        let commands = AfarTool.configuration.subcommands
        for command in commands
        where CommandOption.all(of: command).contains(where: { $0.names.contains(entry.option) }) {
            return
        }
        let names = CommandOption.all(of: RequestCommand<AnyRequest>.self).flatMap(\.names)
        let near = Misspelling.nearest(to: entry.option, in: names.filter { $0.hasPrefix("--") && $0 != entry.option })
        let hint = near.map { ". Did you mean \($0)?" } ?? ""
        throw Failure(
            .usage,
            "\(file.path), line \(entry.line): \(entry.option) isn't an option of afar\(hint.isEmpty ? "." : hint)")
    }
}

/// An option of a command.
struct CommandOption {
    /// All names with their dashes.
    var names: [String]
    var isFlag: Bool

    /// The long name, if there is one.
    var name: String { names.first { $0.hasPrefix("--") } ?? names.first ?? "" }

    /// Returns the name to use for a name in a file: a long name for a short one.
    func name(for text: String) -> String { text.hasPrefix("--") ? text : name }

    /// Returns whether a command line contains the option.
    func isIn(_ arguments: [String]) -> Bool {
        arguments.contains { argument in
            names.contains { name in
                name.hasPrefix("--")
                    ? argument == name || argument.hasPrefix("\(name)=")
                    : argument.hasPrefix(name) && !argument.hasPrefix("--")
            }
        }
    }

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
