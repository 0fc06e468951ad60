import Afar
import Foundation

/// Why the tool ends before its work is done: an exit code, and one line for the person who called it.
struct Failure: Error, Equatable {
    var status: ExitReason
    /// What, where, and what to do.
    var message: String
    /// Lines to stand below the message, ended by a line break; mostly none.
    var excerpt = ""

    /// Makes a failure. Whatever a server or a file put into the message, it stays one line, and URLs in it show no secrets.
    init(_ status: ExitReason, _ message: String) {
        self.status = status
        self.message = Redaction.standard.line(message)
    }

    /// Makes the failure of a command line that cannot be parsed.
    ///
    /// - Parameters:
    ///   - message: What the parser says about it.
    ///   - isUsage: Whether the person can mend it by another command line.
    ///   - arguments: The command line; the first argument is the tool's own name.
    ///   - commands: The names of the tool's commands.
    init(parsing message: String, isUsage: Bool, arguments: [String], commands: [String]) {
        let command = arguments.dropFirst().first { !$0.hasPrefix("-") }
        if isUsage, let command, !commands.contains(command), command != "help" {
            let isAddress = command.contains { ".:/".contains($0) } || command == "localhost"
            let hint =
                isAddress
                ? "Perhaps you meant: afar get \(command)" : "The commands are: \(commands.joined(separator: ", "))."
            self.init(.usage, "\"\(command)\" is not a command. \(hint)")
        } else {
            let help = ["afar", command, "--help"].compactMap { $0 }.joined(separator: " ")
            self.init(isUsage ? .usage : .other, isUsage ? "\(Self.sentence(message)) See \(help)." : message)
        }
    }

    /// Why the last call of the system failed, fit to stand inside a sentence.
    static var systemReason: String { systemReason(of: errno) }

    static func systemReason(of code: Int32) -> String { String(cString: strerror(code)).lowercased() }

    /// Writes the message to the standard error stream and gives the status back.
    func reported() -> ExitReason {
        StandardError.write("afar: \(message)\n\(excerpt)")
        return status
    }

    private static func sentence(_ text: String) -> String {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        return text.last.map { ".!?".contains($0) } == true ? text : text + "."
    }
}
