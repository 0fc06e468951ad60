import Foundation
import Servers

/// The hardware and software that the results were measured on.
struct Machine {
    let lines: [String]

    init(clients: [Client]) {
        let system = Self.value("PRETTY_NAME", in: "/etc/os-release", separator: "=")
        let processor = Self.value("model name", in: "/proc/cpuinfo", separator: ":")
        let kernel = Self.text("/proc/sys/kernel/osrelease").trimmingCharacters(in: .whitespacesAndNewlines)
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let versions =
            [
                ("Swift", "swift --version"), ("libcurl", "curl-config --version"), ("nginx", "nginx -v 2>&1"),
                ("nghttp2", "nghttpd --version"),
            ]
            + clients.compactMap { client in client.versionCommand.map { (client.name, $0) } }
        lines = [
            "\(processor), \(cores) cores, \(system), Linux \(kernel)",
            versions.map { "\($0) \(Self.version($1))" }.joined(separator: ", ")
                + ", \(Date.now.formatted(.iso8601.year().month().day()))",
        ]
    }

    /// Returns the first number with a dot in the output of a shell command.
    private static func version(_ command: String) -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let shell = URL(filePath: "/bin/sh")
        let output = try? Executable.run(shell, ["-c", command], environment: ["PATH": "\(path):/usr/sbin"])
        let text = String(decoding: output ?? Data(), as: UTF8.self)
        return text.firstMatch(of: /[0-9]+(\.[0-9]+)+/).map { String($0.0) } ?? "of unknown version"
    }

    private static func value(_ key: String, in path: String, separator: Character) -> String {
        let line = text(path).split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
        let value = line.split(separator: separator, maxSplits: 1).last ?? "unknown"
        return value.trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "\"")))
    }

    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
