import AfarStages
import Foundation

/// Stores cookies in a file, for tests of what becomes of it when several processes do, and when one is killed.
///
/// Arguments: the file; what to do: `forever` stores one cookie after the other and flushes each, `count` stores so many and
/// flushes in between, `exit` stores so many and exits at once; what the names begin with; the number.
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
