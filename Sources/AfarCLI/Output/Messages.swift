import AfarCore
import AfarTransport
import ArgumentParser

/// The options for messages on the standard error stream.
struct MessageOptions: ParsableArguments {
    @Flag(
        name: .shortAndLong,
        help: "Show no progress, no notes, and no error of the request. Usage errors and security warnings are shown.")
    var silent = false

    @Flag(name: [.customShort("S"), .long], help: "With --silent, show errors.")
    var showError = false
}

/// Messages on the standard error stream that `--silent` hides.
enum Messages {
    private static let options = Locked((silent: false, showError: false))

    /// Applies the options of a command, if it has them.
    static func apply(_ command: any ParsableCommand) {
        guard let messages = (command as? any ResponseCommand)?.messages ?? (command as? Download)?.messages else {
            return
        }
        options.withLock { $0 = (messages.silent, messages.showError) }
    }

    /// Prints a note.
    static func note(_ text: String) {
        if !options.withLock({ $0.silent }) { StandardError.write("afar: \(text)\n") }
    }

    /// Prints an error.
    static func error(_ text: String) {
        if options.withLock({ !$0.silent || $0.showError }) { StandardError.write("afar: \(text)\n") }
    }
}
