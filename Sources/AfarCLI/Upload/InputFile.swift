import Foundation

/// What `--file` names.
enum InputFile {
    /// A file with a length, which can be read again.
    case plain(path: String)
    /// Bytes that come when they come.
    case stream(ByteStream)

    /// Looks at what is there; `-` is the standard input.
    init(path: String) throws {
        var status = stat()
        guard path != "-" else {
            self = .stream(ByteStream(descriptor: STDIN_FILENO))
            return
        }
        guard stat(path, &status) == 0 else {
            throw Failure(.usage, "--file \(path): \(Failure.systemReason).")
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw Failure(.usage, "--file \(path) is a directory. Pipe an archive of it to afar upload URL --file -.")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(.usage, "--file \(path): \(Failure.systemReason).")
        }
        if status.st_mode & S_IFMT == S_IFREG {
            close(descriptor)
            self = .plain(path: path)
        } else {
            self = .stream(ByteStream(descriptor: descriptor))
        }
    }
}
