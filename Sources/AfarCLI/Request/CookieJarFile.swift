import Afar
import Foundation

/// The file of cookies that the command line names.
enum CookieJarFile {
    private static let opened = Locked<FileCookieStore?>(nil)

    /// Reads the file; there need not be one yet.
    static func open(_ path: String) throws -> FileCookieStore {
        do {
            let store = try FileCookieStore(file: URL(filePath: path))
            opened.withLock { $0 = store }
            return store
        } catch {
            throw Failure(.usage, "--cookie-jar: \(TerminalText.line(error.description)).")
        }
    }

    /// Writes what the responses have set.
    static func save() {
        do {
            try opened.withLock { $0 }?.flush()
        } catch {
            StandardError.write("afar: the cookies are not saved: \(TerminalText.line(error.description)).\n")
        }
    }
}
