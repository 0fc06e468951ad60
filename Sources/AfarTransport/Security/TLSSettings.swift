package import AfarTrust
package import Foundation

/// How a transport secures its connections. All of its threads share the settings.
package final class TLSSettings: Sendable {
    /// The trusted certificates.
    package let authorities: CertificateAuthorities
    /// The ciphers for TLS 1.2 as an OpenSSL list; nil for OpenSSL's defaults.
    package let cipherList: String?
    /// The cipher suites for TLS 1.3; nil for OpenSSL's defaults.
    package let tls13CipherSuites: String?
    package let keyLog: KeyLog?

    package init(
        authorities: CertificateAuthorities, cipherList: String?, tls13CipherSuites: String?, keyLogFile: URL?
    ) {
        (self.authorities, self.cipherList, self.tls13CipherSuites) = (authorities, cipherList, tls13CipherSuites)
        keyLog = keyLogFile.map { KeyLog(file: $0) }
    }

    /// Throws an error if connections can't be secured according to the settings.
    package func check(url: String) throws {
        guard let keyLog, keyLog.descriptor < 0 else { return }
        throw TransportError(
            .invalidUse, phase: .queued, url: url,
            message:
                "the file for TLS keys, \(keyLog.file.path), cannot be written: it must be a regular file that belongs to this "
                + "user and that no other user can read",
            systemError: keyLog.systemError)
    }
}

/// A file to which the secrets of TLS handshakes are appended, in the format that Wireshark reads.
package final class KeyLog: Sendable {
    package let file: URL
    /// Negative if the file could not be opened.
    package let descriptor: Int32
    package let systemError: Int32

    init(file: URL) {
        self.file = file
        // Nonblocking, because opening a pipe that has no reader would block.
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let opened = open(file.path, flags, 0o600)
        let error = opened < 0 ? errno : 0
        guard opened >= 0, !Self.isPrivate(opened) else {
            (descriptor, systemError) = (opened, error)
            return
        }
        close(opened)
        (descriptor, systemError) = (-1, EPERM)
    }

    /// Whether it is a regular file that belongs to this user, and that no other user can read or write.
    private static func isPrivate(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_uid == geteuid() && status.st_mode & 0o077 == 0
    }

    deinit { if descriptor >= 0 { close(descriptor) } }
}
