import AfarDiskCache
import AfarStages
import Foundation

/// Stores and reads responses with checksummed bodies until it is killed or its time is up. It prints a line for each
/// response that has been written, and `wrong` for a body that differs from what was stored.
///
/// Arguments: the folder, and the duration in seconds.
@main
struct DiskCacheProbe {
    static func main() async throws {
        let seconds = Double(CommandLine.arguments[2]) ?? 1
        let store = try DiskCacheStore(
            directory: URL(filePath: CommandLine.arguments[1]), capacity: 4_000_000,
            onError: { error in Self.print("error \(error)") })
        let end = Date(timeIntervalSinceNow: seconds)
        var number = 0
        while number < 10 || Date() < end {
            number += 1
            let url = "http://cache.example/\(Int.random(in: 0..<200))"
            store.store(ChecksummedBody.response(url, bytes: number % 3 == 0 ? 100_000 : 500))
            for response in store.responses(for: "http://cache.example/\(Int.random(in: 0..<200))")
            where !ChecksummedBody.isWhole(response.body, of: response.url) { Self.print("wrong \(response.url)") }
            if number % 17 == 0 { store.removeResponses(for: url) }
            if number % 10 == 0 {
                await store.flush()
                Self.print("stored")
            }
        }
        await store.flush()
    }

    private static func print(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
}
