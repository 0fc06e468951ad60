public import Foundation

/// Stores a token in a file that several processes can share, for example runs of a command-line tool.
///
/// Only the file's owner can read it (mode 0600). The token isn't encrypted. Each change writes a file whose name ends in `.tmp`, and then
/// replaces the token's file with it atomically. While a process changes the token, it locks (`flock`) another file, whose name ends in
/// `.lock`. The lock file isn't removed. Use a local file system. On Apple's systems, a store in the keychain is more secure.
public final class OAuthFileTokenStore: OAuthTokenStore {
    /// The maximum size of the file in bytes.
    private static let largestSize = 1 << 20
    /// The longest time to wait for other processes. A request takes at most a minute.
    private static let longestWait = Duration.seconds(180)

    private let path: String
    private let lock = AsyncLock()

    /// Creates a store. Storing the first token creates the file, and its folder if necessary.
    ///
    /// - Parameter file: The URL of the file. Symbolic links aren't followed.
    public init(_ file: URL) { path = file.path }

    /// Returns the stored token, or nil if the file doesn't exist.
    ///
    /// - Throws: ``OAuthError/tokenStoreFailed(_:)`` if the file can't be read, is damaged, belongs to another user, or can be accessed by
    ///   another user.
    public func load() throws -> OAuthToken? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure()
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure() }
        guard status.st_mode & S_IFMT == S_IFREG else { throw failure("it isn't a regular file") }
        guard status.st_uid == geteuid() else { throw failure("it belongs to another user") }
        guard status.st_mode & 0o077 == 0 else {
            throw failure("other users can access it. Revoke the token, and set the file's mode to 0600")
        }
        guard status.st_size <= Self.largestSize else { throw failure("it is too large") }
        var data = Data(count: Int(status.st_size))
        let count = data.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
        // Foundation's decoder can crash on input that ends with an opening bracket.
        guard count == data.count, data.last(where: { !" \t\r\n".utf8.contains($0) }) == UInt8(ascii: "}"),
            let token = try? JSONDecoder().decode(OAuthToken.self, from: data)
        else { throw failure("it is damaged. Remove it to sign in again") }
        return token
    }

    /// Replaces the token, after other processes and tasks have finished their changes.
    ///
    /// The new file is created before the closure is called, so a missing write permission causes an error before a refresh token is
    /// used.
    ///
    /// - Throws: The closure's error, ``OAuthError/tokenStoreFailed(_:)``, or `CancellationError` if the task is canceled while it waits.
    @discardableResult
    public func update(_ change: @Sendable (OAuthToken?) async throws -> OAuthToken?) async throws -> OAuthToken? {
        try await lock.acquire()
        defer { lock.release() }
        try createFolder()
        let lockFile = try await lockFile()
        defer { close(lockFile) }
        let stored = try load()
        let temporary = try TemporaryFile(path)
        guard let new = try await change(stored) else {
            guard unlink(path) == 0 || errno == ENOENT else { throw failure() }
            return nil
        }
        if new != stored {
            guard let data = try? JSONEncoder().encode(new), data.count <= Self.largestSize else {
                throw failure("the token is too large")
            }
            guard temporary.replace(with: data) else { throw failure() }
        }
        return new
    }

    private func failure(_ reason: String? = nil) -> OAuthError {
        .tokenStoreFailed("\(path): \(reason ?? String(cString: strerror(errno)))")
    }

    private func createFolder() throws {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw failure("its folder can't be created")
        }
    }

    /// Locks a file next to the token's file. The token's file itself can't be locked, because each change replaces it.
    private func lockFile() async throws -> Int32 {
        let end = ContinuousClock.now + Self.longestWait
        while true {
            let descriptor = open(path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
            guard descriptor >= 0 else { throw failure() }
            do {
                try await lock(descriptor, until: end)
            } catch {
                close(descriptor)
                throw error
            }
            // The file might have been removed during the wait. Other processes then lock a new one.
            var (locked, current) = (stat(), stat())
            if fstat(descriptor, &locked) == 0, lstat(path + ".lock", &current) == 0, locked.st_ino == current.st_ino,
                locked.st_dev == current.st_dev
            {
                return descriptor
            }
            close(descriptor)
            guard ContinuousClock.now < end else { throw failure("its lock file changes all the time") }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    private func lock(_ descriptor: Int32, until end: ContinuousClock.Instant) async throws {
        var delay = Duration.milliseconds(5)
        // A blocking call couldn't be canceled.
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard errno == EWOULDBLOCK || errno == EINTR else { throw failure() }
            guard ContinuousClock.now < end else { throw failure("another process has locked it for too long") }
            try await Task.sleep(for: delay)
            delay = min(delay * 2, .milliseconds(100))
        }
    }
}

/// A temporary file next to the file that it replaces. It is removed unless it has replaced the other file. Its name is always the same, so
/// the next process removes the file that a killed process left behind. Only the owner of the lock creates the temporary file.
private final class TemporaryFile {
    private let path: String
    private let temporaryPath: String
    private let descriptor: Int32
    private var isMoved = false

    init(_ path: String) throws {
        self.path = path
        temporaryPath = path + ".tmp"
        unlink(temporaryPath)
        descriptor = open(temporaryPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw OAuthError.tokenStoreFailed("\(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit {
        if !isMoved, isCurrent { unlink(temporaryPath) }
        close(descriptor)
    }

    /// Whether no other process has replaced this temporary file. A replacement is possible only if the lock file was removed.
    private var isCurrent: Bool {
        var (own, current) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && lstat(temporaryPath, &current) == 0 && own.st_ino == current.st_ino
            && own.st_dev == current.st_dev
    }

    /// Writes the data to the temporary file, and replaces the target file with it. After a power failure, the target file has
    /// either its old or its new content.
    func replace(with data: Data) -> Bool {
        var rest = data[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        guard fsync(descriptor) == 0, isCurrent, rename(temporaryPath, path) == 0 else { return false }
        isMoved = true
        let folder = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        return true
    }
}
