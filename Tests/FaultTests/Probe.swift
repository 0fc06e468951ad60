import Foundation

/// The program that runs the faults.
enum Probe {
    enum Outcome: String, Codable { case success, error }

    struct Listing: Decodable {
        var family: String
        var name: String
        var own: Set<Outcome>
        var urlSession: Set<Outcome>
        var mayTrap: Bool
        var mayHang: Bool
    }

    struct Line: Decodable {
        var index: Int
        var outcome: Outcome?
        var code: String?
        var milliseconds: Int
        var isUsableAfterward: Bool
        var hangs: Bool
    }

    enum Result: CustomStringConvertible {
        case ended(Line)
        /// The process crashed.
        case trapped
        /// The request didn't end.
        case hung

        var description: String {
            switch self {
            case .ended(let line):
                "\(line.outcome?.rawValue ?? "nothing") \(line.code ?? "") in \(line.milliseconds) ms"
            case .trapped: "the process crashed"
            case .hung: "the request did not end"
            }
        }
    }

    struct Results {
        var outcomes: [Int: Result] = [:]
        /// The number of additional open descriptors at the end of each process that didn't crash.
        var leftDescriptors: [Int] = []
    }

    private static var program: URL {
        (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0])).deletingLastPathComponent()
            .appending(path: "FaultProbe")
    }

    static func listings() async throws -> [Listing] {
        try lines(of: await output(["list"]).text)
    }

    /// Runs all faults in several concurrent processes. If a process crashes, another one runs the remaining faults.
    static func results(_ transport: String, count: Int) async throws -> Results {
        let lanes = 6
        return try await withThrowingTaskGroup(of: Results.self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var results = Results()
                    var next = lane
                    while next < count {
                        let (text, _) = try await output([transport, String(next), String(lanes)])
                        let lines: [Line] = try lines(of: text)
                        for line in lines where line.outcome != nil { results.outcomes[line.index] = .ended(line) }
                        if let end = lines.last, end.index == -1 {
                            results.leftDescriptors.append(end.milliseconds)
                            break
                        }
                        guard let begun = lines.last, begun.outcome == nil else { break }
                        results.outcomes[begun.index] = begun.hangs ? .hung : .trapped
                        next = begun.index + lanes
                    }
                    return results
                }
            }
            var all = Results()
            for try await results in group {
                all.outcomes.merge(results.outcomes) { $1 }
                all.leftDescriptors += results.leftDescriptors
            }
            return all
        }
    }

    private static func lines<Value: Decodable>(of text: String) throws -> [Value] {
        // Skips the messages that Foundation prints before it crashes.
        try text.split(separator: "\n").filter { $0.hasPrefix("{") }.map {
            try JSONDecoder().decode(Value.self, from: Data($0.utf8))
        }
    }

    private static func output(_ arguments: [String]) async throws -> (text: String, status: Int32) {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                let data = output.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                continuation.resume(returning: (String(decoding: data, as: UTF8.self), process.terminationStatus))
            }
        }
    }
}
