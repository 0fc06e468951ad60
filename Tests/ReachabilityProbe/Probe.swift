import AfarReachability
import Foundation

/// Prints a monitor's paths. The lines of its standard input are commands:
///
/// - `watch`: Starts printing paths, with the number of the consumer.
/// - `unwatch`: Ends the last consumer.
/// - `current`: Prints the current path.
/// - `path HOST`: Prints the path to another target.
/// - `listen`: Starts printing the statuses of Alamofire's manager.
/// - `ignore`: Stops printing the statuses.
/// - `descriptors N`: Changes the maximum number of open descriptors.
final class Probe {
    private let monitor: NetworkMonitor
    private let manager: NetworkReachabilityManager
    private var consumers: [Task<Void, Never>] = []

    init(_ options: ProbeOptions) {
        monitor = NetworkMonitor(
            target: options.target, debounce: options.debounce, receiveBuffer: options.receiveBuffer)
        manager = NetworkReachabilityManager(monitor: monitor)
    }

    /// Runs until the end of the input.
    func run() {
        while let line = readLine() {
            let words = line.split(separator: " ")
            switch words.first {
            case "watch":
                consumers.append(Self.follow(monitor))
            case "unwatch": consumers.popLast()?.cancel()
            case "current": Self.print(monitor.currentPath)
            case "path": Self.print(NetworkMonitor(target: .host(String(words[1]))).currentPath)
            case "listen":
                manager.startListening(onQueue: .global()) { Self.write("status: \($0)") }
            case "ignore": manager.stopListening()
            case "descriptors": Self.limitDescriptors(to: UInt(words[1]) ?? 1024)
            default: Self.write("unknown command \(line)")
            }
        }
    }

    private static func follow(_ monitor: NetworkMonitor) -> Task<Void, Never> {
        Task {
            for await path in monitor.paths { print(path) }
        }
    }

    private static func print(_ path: NetworkPath) {
        guard let json = try? JSONEncoder().encode(ProbeReport(path)) else { return }
        write(String(decoding: json, as: UTF8.self))
    }

    private static func write(_ line: String) {
        // A single call writes the whole line, so that lines don't mix.
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    private static func limitDescriptors(to count: UInt) {
        #if os(Linux)
            let resource = RLIMIT_NOFILE.rawValue
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        getrlimit(.init(resource), &limit)
        limit.rlim_cur = .init(count)
        setrlimit(.init(resource), &limit)
    }
}
