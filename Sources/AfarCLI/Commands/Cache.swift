import Afar
import AfarDiskCache
import ArgumentParser
import Foundation
import HTTPTypes

struct Cache: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cache",
        abstract: "List, show or clear the responses in a --cache folder.",
        usage: "afar cache <ls|show|clear> <folder> [<url>]",
        examples: [
            "afar get example.com --cache ~/.cache/afar",
            "afar cache ls ~/.cache/afar",
            "afar cache show ~/.cache/afar https://example.com/",
            "afar cache clear ~/.cache/afar",
        ],
        subcommands: [List.self, Show.self, Clear.self])

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "ls", abstract: "List the cached responses, most recently used first.",
            usage: "afar cache ls <folder>")

        @Argument(help: "The folder.")
        var folder: String

        func run() throws {
            let store = try CacheDirectory.open(folder, option: "afar cache ls", mustExist: true)
            for entry in try store.entries() {
                let date = entry.responseDate.formatted(.iso8601)
                try StandardOutput.write(
                    "\(date)  \(entry.status)  \(Quantity.bytes(Int64(entry.bodyByteCount)))  \(TerminalText.line(entry.url))\n"
                )
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print a URL's cached response: its freshness, status, headers and body.",
            usage: "afar cache show <folder> <url>")

        @Argument(help: "The folder.")
        var folder: String

        @Argument(help: "The URL.")
        var url: String

        func run() throws {
            let store = try CacheDirectory.open(folder, option: "afar cache show", mustExist: true)
            let target = CacheRequest.url(of: URLReference(URLText.complete(url)))
            guard let response = target.flatMap({ store.responses(for: $0).first }) else {
                throw Failure(.response, "\(url) is not in the cache. \"afar cache ls \(folder)\" lists its URLs.")
            }
            let left = response.terms.freshnessLifetime - response.terms.age(at: .now)
            StandardError.write(left > 0 ? "Fresh for \(Int(left)) s.\n" : "Stale for \(Int(-left)) s.\n")
            let head = ResponseHead(status: response.status, fields: response.fields, url: url)
            let fields = response.fields.map { "\($0.name.rawName): \(TerminalText.line($0.value))\n" }.joined()
            try StandardOutput.write("\(StatusLine.text(of: response.status))\n\(fields)\n")
            let printer = ResponsePrinter(style: Style(.never, output: .standardOutput), includesHead: false)
            if !response.body.isEmpty { try StandardOutput.write(printer.output(head: head, body: response.body)) }
        }
    }

    struct Clear: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "clear",
            abstract: "Delete all cached responses.", usage: "afar cache clear <folder>")

        @Argument(help: "The folder.")
        var folder: String

        func run() async throws {
            try CacheDirectory.open(folder, option: "afar cache clear", mustExist: true).removeAll()
        }
    }
}

/// The cache folder given on the command line.
enum CacheDirectory {
    private static let opened = Locked<DiskCacheStore?>(nil)

    /// Opens the folder.
    ///
    /// - Parameters:
    ///   - option: The option or command that names the folder, for error messages.
    ///   - mustExist: Whether a missing cache is an error. If this is false, a missing cache is created.
    static func open(_ path: String, option: String, mustExist: Bool = false) throws -> DiskCacheStore {
        let directory = URL(filePath: path)
        let database = directory.appending(path: "responses.sqlite").path
        guard !mustExist || FileManager.default.fileExists(atPath: database) else {
            throw Failure(.usage, "\(option): no cache exists in \(path).")
        }
        do {
            let store = try DiskCacheStore(directory: directory) { error in
                Messages.error("the cache: \(TerminalText.line("\(error)"))")
            }
            opened.withLock { $0 = store }
            return store
        } catch {
            throw Failure(.usage, "\(option): \(path) cannot be used as a cache: \(TerminalText.line("\(error)")).")
        }
    }

    /// The longest time to wait for pending writes, in seconds.
    private static let longestWait = 10.0

    /// Finishes pending writes. Returns whether they were finished.
    static func save() -> Bool {
        guard let store = opened.withLock({ $0 }) else { return true }
        let end = DispatchSemaphore(value: 0)
        Task.detached {
            await store.flush()
            end.signal()
        }
        guard end.wait(timeout: .now() + longestWait) == .timedOut else { return true }
        Messages.error("the cache was not saved, because writing takes too long.")
        return false
    }
}
