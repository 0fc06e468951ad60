import Foundation

/// What the figures were measured on, and with.
struct Machine {
    let lines: [String]

    init(clients: [Client]) throws {
        let system = Self.value("PRETTY_NAME", in: "/etc/os-release", separator: "=")
        let processor = Self.value("model name", in: "/proc/cpuinfo", separator: ":")
        let kernel = try Self.file("/proc/sys/kernel/osrelease")
        let swift = try Self.answer("swift", ["--version"])
        let versions =
            [
                swift.firstMatch(of: /Swift version [0-9.]+/).map { String($0.0).replacing(" version", with: "") },
                try Self.answer("curl-config", ["--version"]),
                try Self.answer("dpkg-query", ["-W", "-f=nginx ${Version}", "nginx-light"]),
                clients.contains { $0.name == "Go" } ? try Self.answer("go", ["version"]) : nil,
            ].compactMap(\.self).map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        let cores = ProcessInfo.processInfo.activeProcessorCount
        lines = [
            "\(processor), \(cores) cores, \(system), Linux \(kernel)",
            "\(versions.joined(separator: ", ")), \(Date.now.formatted(.iso8601.year().month().day()))",
        ]
    }

    private static func answer(_ program: String, _ arguments: [String]) throws -> String {
        String(decoding: try Executable.run(Executable.find(program), arguments), as: UTF8.self)
    }

    private static func file(_ path: String) throws -> String {
        try String(contentsOfFile: path, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func value(_ key: String, in path: String, separator: Character) -> String {
        let lines = (try? file(path))?.split(separator: "\n") ?? []
        let line = lines.first { $0.hasPrefix(key) } ?? ""
        let value = line.split(separator: separator, maxSplits: 1).last ?? "unknown"
        return value.trimmingCharacters(in: .whitespaces.union(CharacterSet(charactersIn: "\"")))
    }
}
