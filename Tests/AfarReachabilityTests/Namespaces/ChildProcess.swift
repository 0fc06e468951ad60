import Foundation

/// A program that is connected by sockets to its standard input and output. It ends when its input is closed.
final class ChildProcess: Sendable {
    struct Failure: Error {
        let code: Int32
    }

    private let process: pid_t
    private let input: Int32

    /// Starts a program and calls `onLine` for each line of its output.
    init(_ path: String, _ arguments: [String], onLine: @escaping @Sendable (String) -> Void) throws {
        // Programs that other tests start must not inherit these descriptors.
        var inputs: [Int32] = [0, 0]
        var outputs: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &inputs) == 0, socketpair(AF_UNIX, type, 0, &outputs) == 0 else {
            throw Failure(code: errno)
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, inputs[0], 0)
        posix_spawn_file_actions_adddup2(&actions, outputs[1], 1)
        posix_spawn_file_actions_adddup2(&actions, outputs[1], 2)
        var process = pid_t()
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        let code = posix_spawnp(&process, path, &actions, nil, &words, environ)
        close(inputs[0])
        close(outputs[1])
        guard code == 0 else {
            close(inputs[1])
            close(outputs[0])
            throw Failure(code: code)
        }
        self.process = process
        input = inputs[1]
        let output = outputs[0]
        Thread.detachNewThread { Self.read(output, onLine) }
    }

    deinit {
        close(input)
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// Writes a line to the program's input.
    func write(_ line: String) {
        var rest = Array((line + "\n").utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            rest.removeFirst(count)
        }
    }

    private static func read(_ descriptor: Int32, _ onLine: (String) -> Void) {
        defer { close(descriptor) }
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = Glibc.read(descriptor, &buffer, buffer.count), count > 0 {
            for byte in buffer[..<count] {
                if byte == UInt8(ascii: "\n") {
                    onLine(String(decoding: line, as: UTF8.self))
                    line = []
                } else {
                    line.append(byte)
                }
            }
        }
    }
}
