package import Foundation

/// A child process of a test. Unlike with Foundation's `Process`, it inherits none of the test's descriptors, so it
/// doesn't keep files and connections open that the test closes.
package final class ChildProcess: Sendable {
    private static let closeDescriptors =
        "for file in /proc/$$/fd/*; do n=${file##*/}; [ $n -le 2 ] || eval \"exec $n>&-\"; done; exec \"$@\""

    private let identifier: pid_t
    private let outputFile: URL

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: The program's name and its arguments.
    ///   - output: The file for the program's output.
    package init(_ arguments: [String], output: URL) throws {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let words = (["bash", "-c", Self.closeDescriptors, "bash"] + arguments).map {
            strdup($0) as UnsafeMutablePointer?
        }
        let environment = [strdup("PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin") as UnsafeMutablePointer?]
        defer { for text in words + environment { free(text) } }
        var started = pid_t()
        let code = posix_spawnp(&started, "bash", &actions, &attributes, words + [nil], environment + [nil])
        guard code == 0 else {
            throw TestCertificates.Failure(output: "\(arguments[0]): \(String(cString: strerror(code)))")
        }
        identifier = started
        outputFile = output
    }

    /// The output of this program and of earlier ones with the same file.
    package var output: String {
        // Foundation's methods for whole files leak memory if the file is empty.
        let data = try? FileHandle(forReadingFrom: outputFile).readToEnd()
        return String(decoding: data ?? Data(), as: UTF8.self)
    }

    /// Whether the process is running. The first call that returns `false` reaps the process, so don't call this again
    /// afterward.
    package var isRunning: Bool { waitpid(identifier, nil, WNOHANG) == 0 }

    /// Waits until a server is ready.
    ///
    /// - Throws: An error with the server's output, if the server exits before it is ready.
    package func wait(until isReady: () -> Bool) async throws {
        while !isReady() {
            guard isRunning else { throw TestCertificates.Failure(output: "the server did not start: \(output)") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until the process exits. Returns whether it succeeded.
    package func wait() -> Bool {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0 { guard errno == EINTR else { return false } }
        return status == 0
    }

    /// Sends the process SIGTERM, and waits until it exits. Returns whether it succeeded.
    package func terminate() async throws -> Bool {
        kill(identifier, SIGTERM)
        var info = siginfo_t()
        // The process identifier stays valid until `stop()` or `wait()` reaps the process.
        while waitid(P_PID, id_t(identifier), &info, WEXITED | WNOHANG | WNOWAIT) == 0, info.si_signo == 0 {
            try await Task.sleep(for: .milliseconds(5))
        }
        return info.si_code == CLD_EXITED && info._sifields._sigchld.si_status == 0
    }

    /// Kills the process.
    package func stop() {
        kill(identifier, SIGKILL)
        _ = wait()
    }
}
