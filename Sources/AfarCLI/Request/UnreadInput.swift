import Afar
import Foundation
import HTTPTypes

/// A note for users who pipe a body to a command that doesn't read it.
///
/// The tool reads the standard input only if an option names it. Without this rule, a command in a shell loop, a server job or a remote
/// shell could read an inherited input that belongs to another program or never ends.
struct UnreadInput {
    private static let methods: Set<HTTPMethod> = [.post, .put, .patch]

    let method: HTTPMethod
    let hasBody: Bool

    /// Prints the note if the request has no body although its method usually has one, and the standard input contains data.
    func report() {
        guard !hasBody, Self.methods.contains(method), Self.isWaiting(on: STDIN_FILENO) else { return }
        Messages.note("The standard input was not sent. To send it as the body, add --raw -")
    }

    /// Returns whether a pipe contains data, or whether nothing has been read from a file that isn't empty.
    static func isWaiting(on descriptor: Int32) -> Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        switch status.st_mode & S_IFMT {
        case S_IFIFO:
            var state = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            return poll(&state, 1, 0) == 1 && Int32(state.revents) & Int32(POLLIN) != 0
        case S_IFREG:
            return status.st_size > 0 && lseek(descriptor, 0, SEEK_CUR) == 0
        default:
            return false
        }
    }
}
