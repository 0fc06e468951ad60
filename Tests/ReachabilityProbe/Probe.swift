import AfarReachability
import Foundation

/// Prints the paths that a monitor tells. It does what the lines of its standard input say:
///
/// - `watch`: begins to print paths, marked with the number of the consumer.
/// - `unwatch`: ends the last consumer.
/// - `current`: prints the path at this moment.
/// - `path HOST`: prints the path to another target.
/// - `listen`: prints the statuses that Alamofire's manager tells.
/// - `ignore`: ends that.
/// - `descriptors N`: changes how many descriptors the process may have.
final class Probe {
    private let monitor: NetworkMonitor
    private let manager: NetworkReachabilityManager
    private var consumers: [Task<Void, Never>] = []

    init(_ options: ProbeOptions) {
        monitor = NetworkMonitor(
            target: options.target, debounce: options.debounce, receiveBuffer: options.receiveBuffer)
        manager = NetworkReachabilityManager(monitor: monitor)
    }

    /// Runs until the input ends.
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
        // One call for the whole line, so that it does not mix with another's.
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
