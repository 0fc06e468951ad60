import Afar
import ArgumentParser
import Foundation

/// Adds the options in the ``DefaultsFile`` to command lines.
enum DefaultOptions {
    /// Options that weaken the verification of servers, or print secrets.
    private static let unsafe: Set = ["--insecure", "--insecure-host", "--show-secrets", "--keylog"]
    /// Credentials, which every server would receive.
    private static let credentials: Set = ["--user", "--bearer", "--cookie"]
    private static let secretHeaders: Set = ["authorization", "cookie", "proxy-authorization"]
    /// Options that make no sense in a file, or aren't public.
    private static let excluded: Set = ["--no-config", "--help", "--version", "--default-header"]

    /// Parses a command line with the default options. The command line's own options follow the default options, and therefore have
    /// precedence. Leaves out defaults that can't be combined with the command line. With `--verbose`, prints a note about each of them.
    ///
    /// - Parameter parse: Parses arguments that begin with the name of a command.
    static func command(
        for arguments: [String], _ parse: ([String]) throws -> any ParsableCommand
    ) throws -> any ParsableCommand {
        guard let first = arguments.first, !arguments.contains("--no-config"),
            !["help", "-h", "--help", "--version"].contains(first), !first.hasPrefix("---"),
            !first.hasPrefix("--generate-completion-script"), !first.hasPrefix("--experimental")
        else { return try parse(arguments) }
        let file = Result { try DefaultsFile.read() }
        if case .success(nil) = file { return try parse(arguments) }
        let own = Result { try parse(arguments) }
        // The parser returns a command of its own for --help, and throws for --version. Neither requires the file.
        switch own {
        case .success(let command) where type(of: command)._commandName == "help": return command
        case .failure(let error) where AfarTool.exitCode(for: error) == .success: throw error
        default: break
        }
        guard let file = try file.get() else { return try own.get() }
        return try command(for: arguments, own, in: file, parse)
    }

    /// Parses a command line with the options in a file.
    ///
    /// - Parameter own: The result of parsing the command line alone.
    static func command(
        for arguments: [String], _ own: Result<any ParsableCommand, any Error>, in file: DefaultsFile,
        _ parse: ([String]) throws -> any ParsableCommand
    ) throws -> any ParsableCommand {
        guard let first = arguments.first else { return try own.get() }
        let named = AfarTool.configuration.subcommands.first { $0._commandName == first }
        let command = named ?? RequestCommand<AnyRequest>.self
        let name = command._commandName
        let words = named == nil ? arguments : Array(arguments.dropFirst())
        let defaults = try self.defaults(in: file, for: command)
        guard !defaults.isEmpty else { return try own.get() }
        guard let base = try? own.get() else {
            // An option on the command line can require another option that is a default. For example, --retry-delay requires --retry.
            guard let result = try? parse([name] + defaults.flatMap(\.arguments) + words) else { return try own.get() }
            return result
        }
        let given = (base as? any RequestSending)?.given ?? [name]
        let isVerbose = given.contains("--verbose") || defaults.contains { $0.name == "--verbose" }
        func note(_ entry: Default, _ reason: String) {
            guard isVerbose else { return }
            StandardError.write("* \(file.place(entry.entry)): \(entry.name) is left out: \(reason).\n")
        }
        var kept: [Default] = []
        for entry in defaults {
            if let reason = conflict(of: entry, with: given) {
                note(entry, reason)
            } else {
                try checkEarlier(entry, kept, in: file)
                kept.append(entry)
            }
        }
        kept = kept.filter { entry in
            guard let required = missingRequirement(of: entry, kept, given) else { return true }
            note(entry, "it requires \(required)")
            return false
        }
        if let result = try? parse([name] + kept.flatMap(\.arguments) + words) { return result }
        // Rules that depend on values can exclude more defaults.
        var accepted: [Default] = []
        var result = base
        for entry in kept {
            if let next = try? parse([name] + (accepted + [entry]).flatMap(\.arguments) + words) {
                accepted.append(entry)
                result = next
            } else if isValid(accepted + [entry], for: name, parse) {
                note(entry, "it can't be combined with the command line")
            } else {
                throw file.failure(
                    entry.entry,
                    entry.entry.value == nil
                        ? "\(entry.name) can't be combined with an earlier line"
                        : "the value of \(entry.name) is invalid")
            }
        }
        return result
    }

    /// A default option that applies to a command.
    private struct Default {
        var entry: DefaultsFile.Entry
        var name: String
        var arguments: [String]
        /// The names that ``OptionRules`` use.
        var names: [String] { OptionRules.names(name, entry.value) }
    }

    /// Returns the reason to leave out a default, if any.
    private static func conflict(of entry: Default, with given: Set<String>) -> String? {
        if let reason = OptionRules.conflict(between: entry.names, and: given) { return reason }
        guard let requirement = OptionRules.requirement(of: entry.names), requirement.describesValue,
            given.contains(requirement.required)
        else { return nil }
        return "it belongs to another \(requirement.required)"
    }

    /// Throws the failure of a default that can't be combined with earlier ones.
    private static func checkEarlier(_ entry: Default, _ earlier: [Default], in file: DefaultsFile) throws {
        for other in earlier where OptionRules.conflict(between: entry.names, and: other.names) != nil {
            throw file.failure(
                entry.entry, "\(entry.name) can't be combined with \(other.name) in line \(other.entry.line)")
        }
    }

    private static func missingRequirement(
        of entry: Default, _ kept: [Default], _ given: Set<String>
    ) -> String? {
        guard let required = OptionRules.requirement(of: entry.names)?.required, !given.contains(required),
            !kept.contains(where: { $0.name == required })
        else { return nil }
        return required
    }

    /// Returns whether defaults are valid with a command line that contains nothing else.
    private static func isValid(
        _ defaults: [Default], for name: String, _ parse: ([String]) throws -> any ParsableCommand
    ) -> Bool {
        let urls = name == Diff._commandName ? ["localhost", "localhost"] : ["localhost"]
        return (try? parse([name] + defaults.flatMap(\.arguments) + urls)) != nil
    }

    /// Returns the file's options that a command supports.
    private static func defaults(
        in file: DefaultsFile, for command: any ParsableCommand.Type
    ) throws -> [Default] {
        let known = CommandOption.all(of: command)
        // Only commands with --no-config use the file.
        let usesFile = known.contains { $0.name == "--no-config" }
        var result: [Default] = []
        for entry in file.entries {
            guard let option = known.first(where: { $0.names.contains(entry.option) }) else {
                try checkElsewhere(entry, in: file)
                continue
            }
            guard usesFile, try isAllowed(entry, option, in: file) else { continue }
            let name = option.name(for: entry.option)
            let arguments =
                switch (name, entry.value) {
                // The command line's headers replace default headers. Repeated --header options would be combined.
                case ("--header", let value?): ["--default-header=\(value)"]
                case ("--user-agent", let value?): ["--default-header=User-Agent: \(value)"]
                case (_, let value?): name.hasPrefix("--") && !value.isEmpty ? ["\(name)=\(value)"] : [name, value]
                case (_, nil): [name]
                }
            result.append(Default(entry: entry, name: name, arguments: arguments))
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
            throw file.failure(
                entry,
                "\(entry.option) \(option.isFlag ? "has no value; write one option per line" : "requires a value")")
        }
        var reason: String?
        if unsafe.contains(option.name) { reason = "it's only allowed on the command line" }
        if option.name == "--query", let value = entry.value, (try? NamedValue(value, option: option.name)) == nil {
            throw file.failure(entry, "\(entry.option) requires name=value")
        }
        if option.name == "--header", let value = entry.value, (try? HeaderArgument(value)) == nil {
            throw file.failure(entry, "\(entry.option) requires 'Name: value'")
        }
        let header = option.name == "--header" ? entry.value.map { $0.prefix { $0 != ":" && $0 != ";" } } : nil
        let isSecret = header.map { secretHeaders.contains($0.lowercased().trimmingCharacters(in: .whitespaces)) }
        if credentials.contains(option.name) || isSecret == true {
            reason = "every server would receive it; use --session or --netrc"
        }
        if let reason {
            DefaultsFile.warn("\(file.place(entry)): \(entry.option) is ignored, because \(reason)")
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
        let all = CommandOption.all(of: RequestCommand<AnyRequest>.self)
        let names = all.flatMap(\.names).filter { $0.hasPrefix("--") && $0 != entry.option }
        if let near = Misspelling.nearest(to: entry.option, in: names) {
            throw file.failure(entry, "\(entry.option) isn't an option of afar. Did you mean \(near)", end: "?")
        }
        let joined = all.filter { !$0.isFlag }.flatMap(\.names).filter {
            $0.hasPrefix("--") && entry.option.hasPrefix($0)
        }
        if let name = joined.max(by: { $0.count < $1.count }) {
            throw file.failure(entry, "write a space between \(name) and its value")
        }
        // The word can be a value, and values can be secrets.
        throw file.failure(
            entry,
            entry.option.wholeMatch(of: /-?-[a-z][a-z-]{0,19}/) == nil
                ? "the line isn't an option of afar" : "\(entry.option) isn't an option of afar")
    }
}
