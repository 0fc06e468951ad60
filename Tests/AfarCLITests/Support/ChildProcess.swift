import Foundation

/// A child process.
///
/// Foundation's `Process` isn't used, because it crashes if more than a thousand descriptors are open: it reads past
/// the end of its list. Other tests that run at the same time can open that many.
struct ChildProcess {
    struct NotStarted: Error { var code: Int32 }

    let id: pid_t

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - directory: The working directory. If `nil`, the program inherits the current one.
    ///   - descriptors: The standard input, output and error streams.
    init(
        _ executable: URL, _ arguments: [String], environment: [String: String], directory: URL? = nil,
        descriptors: (input: Int32, output: Int32, errors: Int32)
    ) throws {
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
        posix_spawn_file_actions_adddup2(&actions, descriptors.input, 0)
        posix_spawn_file_actions_adddup2(&actions, descriptors.output, 1)
        posix_spawn_file_actions_adddup2(&actions, descriptors.errors, 2)
        if let directory { changeDirectory(&actions, directory.path) }
        #if canImport(Darwin)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_CLOEXEC_DEFAULT))
        #else
            closeFrom(&actions, 3)
        #endif
        // Test threads can block signals, and `nohup` and background jobs ignore some. The program must not inherit
        // these settings.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE] { sigaddset(&signals, signal) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        var flags: Int16 = 0
        posix_spawnattr_getflags(&attributes, &flags)
        posix_spawnattr_setflags(&attributes, flags | Int16(POSIX_SPAWN_SETSIGMASK) | Int16(POSIX_SPAWN_SETSIGDEF))
        let words = ([executable.path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var id = pid_t()
        let code = posix_spawn(&id, executable.path, &actions, &attributes, words, variables)
        guard code == 0 else { throw NotStarted(code: code) }
        self.id = id
    }

    /// Waits for the process to exit, on a dedicated thread.
    ///
    /// - Returns: The exit code, or the negative number of the signal that terminated the process.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var status: Int32 = 0
                while waitpid(id, &status, 0) < 0, errno == EINTR {}
                let signal = status & 0x7F
                continuation.resume(returning: signal == 0 ? (status >> 8) & 0xFF : -signal)
            }
        }
    }
}

#if canImport(Darwin)
    private let changeDirectory = posix_spawn_file_actions_addchdir_np
#else
    // Swift's Glibc module hides functions that POSIX added after the module was written.
    @_silgen_name("posix_spawn_file_actions_addchdir_np") @discardableResult
    private func changeDirectory(_: UnsafeMutablePointer<posix_spawn_file_actions_t>, _: UnsafePointer<CChar>) -> Int32

    @_silgen_name("posix_spawn_file_actions_addclosefrom_np") @discardableResult
    private func closeFrom(_: UnsafeMutablePointer<posix_spawn_file_actions_t>, _: Int32) -> Int32
#endif
