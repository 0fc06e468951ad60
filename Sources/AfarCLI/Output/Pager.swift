import Foundation

/// Shows long output on a terminal with the user's pager.
struct Pager {
    static let standardCommand = "less -FRX"

    var isEnabled = true
    var environment = ProcessInfo.processInfo.environment

    /// The command to run; nil if PAGER disables pagers.
    var command: String? {
        let command = (environment["PAGER"] ?? Self.standardCommand).trimmingCharacters(in: .whitespaces)
        return command.isEmpty || command == "cat" ? nil : command
    }

    /// Writes output to standard output: through the pager if standard input and output are terminals and the output can exceed the
    /// screen.
    ///
    /// - Throws: Like ``StandardOutput/write(_:)-(Data)``. A pager that ends early isn't an error.
    func write(_ bytes: Data) throws {
        let screen = OutputFacts.standardOutput
        guard isEnabled, !StandardOutput.isReserved, screen.isTerminal, isatty(STDIN_FILENO) == 1, let command,
            Self.isLong(bytes, for: screen),
            isAvailable(command), try show(bytes, with: command)
        else { return try StandardOutput.write(bytes) }
    }

    /// Whether output can need more lines than a screen has. Color codes count as characters.
    static func isLong(_ bytes: Data, for screen: OutputFacts) -> Bool {
        var (lines, column) = (0, 0)
        for byte in bytes {
            if byte == UInt8(ascii: "\n") {
                (lines, column) = (lines + 1, 0)
            } else {
                column += 1
                if column > screen.columns { (lines, column) = (lines + 1, 1) }
            }
            if lines >= screen.rows { return true }
        }
        return false
    }

    /// Whether the program of a simple command exists. The shell reports missing programs of other commands.
    private func isAvailable(_ command: String) -> Bool {
        let program = command.prefix { $0 != " " }
        guard program.allSatisfy({ $0.isLetter || $0.isNumber || "/._+-".contains($0) }) else { return true }
        let folders = program.contains("/") ? [""] : (environment["PATH"] ?? "").split(separator: ":").map { "\($0)/" }
        return folders.contains { access("\($0)\(program)", X_OK) == 0 }
    }

    /// Runs the pager until it ends. Returns false if it couldn't be started.
    private func show(_ bytes: Data, with command: String) throws -> Bool {
        // Ctrl-C belongs to the pager while it runs.
        let actions = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, action) in actions { signal(number, action) } }
        return Interruption.ignoringInterrupts {
            guard let process = PagerProcess(command, environment: environment) else { return false }
            process.write(bytes)
            return process.end()
        }
    }
}

/// A running pager.
private struct PagerProcess {
    /// The exit codes of a shell that can't run a program (POSIX, Shell Command Language, section 2.8.2).
    private static let unavailable: Set<Int32> = [126, 127]

    private let id: pid_t
    private let input: Int32

    /// Starts a pager with a shell, because PAGER can contain options. Returns nil if that fails.
    init?(_ command: String, environment: [String: String]) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        _ = fcntl(ends[0], F_SETFD, FD_CLOEXEC)
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
            var attributes: posix_spawnattr_t?
        #else
            var actions = posix_spawn_file_actions_t()
            var attributes = posix_spawnattr_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
        // The tool ignores these signals, and the pager would inherit this.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGINT, SIGQUIT, SIGPIPE] + Interruption.signals { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        let variables = environment.merging(["LESS": "FRX", "LV": "-c"]) { current, _ in current }
        let words = ["/bin/sh", "-c", command].map { (word: String) in strdup(word) } + [nil]
        let strings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + strings { free(text) } }
        var id = pid_t()
        let code = posix_spawn(&id, "/bin/sh", &actions, &attributes, words, strings)
        close(ends[0])
        guard code == 0 else {
            close(ends[1])
            return nil
        }
        (self.id, input) = (id, ends[1])
    }

    /// Writes as much as the pager reads.
    func write(_ bytes: Data) {
        let file = FileHandle(fileDescriptor: input, closeOnDealloc: false)
        try? file.write(contentsOf: bytes)
        close(input)
    }

    /// Waits for the end. Returns false if the shell couldn't run the pager.
    func end() -> Bool {
        var status: Int32 = 0
        while waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { return true }
        }
        return !(status & 0x7F == 0 && Self.unavailable.contains((status >> 8) & 0xFF))
    }
}
