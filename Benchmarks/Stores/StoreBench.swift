import Afar
import AfarDiskCache
import AfarTransport
import Foundation
import HTTPTypes
import Measurement

/// Measures cached responses and cookie lookups in large stores, without network access.
@main struct StoreBench {
    private static let responseCount = 100_000
    private static let cookieCount = 10_000
    private static let requestCount = 20_000

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-stores-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let capacity = 1 << 30
        let disk = try DiskCacheStore(directory: folder, capacity: capacity)
        var rows: [[String]] = []
        for (name, store) in [("memory", MemoryCacheStore(capacity: capacity)), ("disk", disk)]
            as [(String, any CacheStore)]
        {
            for number in 0..<responseCount {
                store.store(response(number))
                if number % 10_000 == 9_999 { await disk.flush() }
            }
            for inFlight in [1, 64] { rows.append(try await hits(name, store, inFlight: inFlight)) }
        }
        print("\nRequests answered by a cache with \(responseCount) responses of 1 kB")
        print(Table(columns: ["store", "in flight", "requests/s", "CPU µs"], rows: rows).text)
        print("\nLooking up a request's cookies among \(cookieCount)")
        print(Table(columns: ["store", "CPU µs"], rows: [lookups()]).text)
    }

    private static func response(_ number: Int) -> CachedResponse {
        CachedResponse(
            url: "http://cache.example/\(number)", variant: "", status: 200,
            fields: [.cacheControl: "max-age=86400", .contentType: "text/plain", .eTag: "\"\(number)\""],
            body: Data(count: 1000), requestDate: .now, responseDate: .now)
    }

    private static func hits(_ name: String, _ store: any CacheStore, inFlight: Int) async throws -> [String] {
        var configuration = SessionConfiguration.default
        configuration.cacheStore = store
        let session = Session(configuration: configuration)
        let urls = (0..<1000).compactMap { URL(string: "http://cache.example/\($0 * 97)") }
        let start = Usage.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<inFlight {
                group.addTask {
                    for number in 0..<requestCount / inFlight {
                        let url = urls[(number * inFlight + task) % urls.count]
                        _ = try await session.request(url).serializingData().value
                    }
                }
            }
            try await group.waitForAll()
        }
        let end = Usage.now
        let count = Double(requestCount / inFlight * inFlight)
        return [
            name, "\(inFlight)", String(Int(count / (end.seconds - start.seconds))),
            text((end.cpuSeconds - start.cpuSeconds) / count),
        ]
    }

    private static func lookups() -> [String] {
        let store = MemoryCookieStore(limits: .init(total: cookieCount))
        let urls = (0..<cookieCount / 10).compactMap { URL(string: "http://h\($0).example/").flatMap { CookieURL($0) } }
        for number in 0..<cookieCount {
            let url = urls[number / 10]
            let cookie = Cookie(name: "c\(number)", value: "v", domain: url.host)
            store.store([cookie].compactMap { $0 }, from: url)
        }
        let start = Usage.now
        var count = 0
        for number in 0..<requestCount { count += store.cookies(for: urls[number % urls.count]).count }
        let end = Usage.now
        return [
            "memory (\(count / requestCount) found)", text((end.cpuSeconds - start.cpuSeconds) / Double(requestCount)),
        ]
    }

    private static func text(_ seconds: Double) -> String { String(format: "%.1f", seconds * 1e6) }
}
