import Afar
import AfarParallelDownloads
import Foundation
import Measurement
import Servers

/// Downloads a file of 256 MiB from nginx, which sends at most 20 MB/s per request, with one request and with four. Fails if four requests
/// take more than a third of the time of one, or if the process uses 40 MB or more for the transfers.
///
/// With `--quick`, the file has 64 MiB.
@main struct DownloadBench {
    static func main() async throws {
        let size = (CommandLine.arguments.contains("--quick") ? 64 : 256) << 20
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-downloads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        Cleanup.shared.add(folder)
        Cleanup.shared.watchSignals()
        try writeFile(of: size, to: folder.appending(path: "file"))
        let port = try LoopbackPort.unused()
        _ = try Nginx(
            port: port, folder: folder,
            http: "server { listen 127.0.0.1:\(port); root \(folder.path); limit_rate 20m; }")
        let session = Session()
        let copy = folder.appending(path: "copy")
        // The first request of a process loads libraries and allocates buffers.
        _ = await session.request("http://127.0.0.1:\(port)/").serializingData().response
        let before = Usage.peakKilobytes
        var times: [Double] = []
        for parallel in [1, 4] {
            let start = Usage.now.seconds
            _ = try await session.download("http://127.0.0.1:\(port)/file", parallel: parallel, to: copy).value
            times.append(Usage.now.seconds - start)
            guard FileManager.default.contentsEqual(atPath: copy.path, andPath: folder.appending(path: "file").path)
            else { throw Failure("the copy differs") }
        }
        let memory = Double(Usage.peakKilobytes - before) / 1_000
        let rows = zip(["one request", "four requests"], times).map { name, time in
            [name, String(format: "%.2f s", time), String(format: "%.0f MB/s", Double(size) / 1e6 / time)]
        }
        print(Table(columns: ["\(size >> 20) MiB at 20 MB/s per request", "time", "rate"], rows: rows).text)
        print(String(format: "additional memory: %.1f MB", memory))
        let targets = [
            ("four requests take at most a third of the time of one", times[1] * 3 <= times[0]),
            ("the transfers use less than 40 MB", memory < 40),
        ]
        print(targets.map { "\($0.1 ? "met   " : "MISSED")  \($0.0)" }.joined(separator: "\n"))
        Cleanup.shared.finish(exitStatus: targets.allSatisfy(\.1) ? 0 : 1)
    }

    private static func writeFile(of size: Int, to file: URL) throws {
        guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
            throw Failure("\(file.path) can't be created")
        }
        let handle = try FileHandle(forWritingTo: file)
        var random = SystemRandomNumberGenerator()
        for _ in 0..<size >> 20 {
            let words = (0..<1 << 17).map { _ in random.next() }
            try handle.write(contentsOf: words.withUnsafeBytes { Data($0) })
        }
        try handle.close()
    }
}
