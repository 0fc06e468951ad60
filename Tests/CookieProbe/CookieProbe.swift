import AfarStages
import Foundation

/// Stores cookies in a file, for tests with several processes and with processes that are killed.
///
/// Arguments: the file, a mode, a prefix for the cookies' names, and a number of cookies. The modes are `forever`,
/// which stores cookies and flushes each one until the process is killed; `count`, which stores the given number and
/// flushes several times; and `exit`, which stores the given number and exits immediately.
@main
struct CookieProbe {
    static func main() throws {
        let (path, mode, prefix) = (CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3])
        let count = mode == "forever" ? Int.max : Int(CommandLine.arguments[4]) ?? 0
        let store = try FileCookieStore(file: URL(filePath: path))
        for number in 0..<count {
            let cookie = Cookie(
                name: "\(prefix)\(number % 40)", value: String(repeating: "v", count: number % 1_000 + 1),
                domain: "\(prefix).example.com", expires: Date() + 3_600)
            if let cookie { store.store(cookie) }
            if mode != "exit" { try store.flush() }
        }
        exit(0)
    }
}
