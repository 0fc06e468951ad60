import Afar
import AfarHTTP
import AfarTestServer
import Foundation

/// Runs faults with a transport, one after the other, and prints a line for each outcome. Tests run the faults in this
/// program, because some of them crash Foundation's URL loading system.
///
/// Usage: FaultProbe TRANSPORT FIRST STEP, or FaultProbe list
@main
struct FaultProbe {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.dropFirst().first == "list" {
            for fault in Fault.all { printLine(Listing(fault)) }
            return
        }
        guard arguments.count >= 4, let first = Int(arguments[2]), let step = Int(arguments[3]) else {
            FileHandle.standardError.write(Data("FaultProbe curl|http|urlSession FIRST STEP\n".utf8))
            exit(2)
        }
        let transport = arguments[1]
        let good = try await TestServer.start()
        var descriptors: Int?
        for index in stride(from: first, to: Fault.all.count, by: step) {
            printLine(Line(index: index))
            printLine(try await run(Fault.all[index], index, transport, good))
            // Counted here, because the first request opens permanent descriptors.
            if descriptors == nil { descriptors = await settledDescriptors(upTo: 0) }
        }
        let left = await settledDescriptors(upTo: descriptors ?? 0)
        printLine(Line(index: -1, milliseconds: left - (descriptors ?? left)))
        await good.stop()
    }

    private static func run(
        _ fault: Fault, _ index: Int, _ transport: String, _ good: TestServer
    ) async throws -> Line {
        let server = try await RawServer.start(fault.script)
        let session = session(over: transport)
        let start = ContinuousClock.now
        let watchdog = Task.detached {
            try await Task.sleep(for: .seconds(8))
            printLine(Line(index: index, milliseconds: 8000, hangs: true))
            exit(3)
        }
        defer { watchdog.cancel() }
        let response = await session.request(server.url).serializingData(emptyResponseCodes: Set(100...999)).response
        let milliseconds = Int((ContinuousClock.now - start) / .milliseconds(1))
        let after = await session.request(good.url("/get")).validate().serializingData().response
        watchdog.cancel()
        await server.stop()
        let error = response.error?.transportError
        if CommandLine.arguments.contains("--verbose") { print(error.map { "\($0.message)" } ?? "no error") }
        return Line(
            index: index, outcome: response.error == nil ? .success : .error,
            code: error?.code.description ?? response.error.map { "\($0)" }, milliseconds: milliseconds,
            isUsableAfterward: after.error == nil)
    }

    private static func session(over transport: String) -> Session {
        var configuration = SessionConfiguration.default
        configuration.timeoutIntervalForRequest = 1
        configuration.timeoutIntervalForResource = 3
        configuration.maximumResponseBodySize = 1_000_000
        let made: any Transport =
            switch transport {
            case "curl": CurlTransport(configuration: .init(configuration))
            case "http": HTTPTransport()
            default: URLSessionTransport()
            }
        return Session(configuration: configuration, transport: made)
    }

    /// Returns the number of open descriptors, after sessions have had some time to close theirs.
    private static func settledDescriptors(upTo wanted: Int) async -> Int {
        var count = Int.max
        for _ in 0..<25 where count > wanted {
            try? await Task.sleep(for: .milliseconds(20))
            count = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        }
        return count
    }

    private static func printLine(_ value: some Encodable) {
        guard let data = try? JSONEncoder().encode(value) else { return }
        FileHandle.standardOutput.write(data + Data("\n".utf8))
    }
}

/// A line about one fault: first about its start, and then about its outcome.
struct Line: Codable, Sendable {
    var index: Int
    /// The outcome, or `nil` in the line about the start.
    var outcome: Fault.Outcome?
    /// The error's code.
    var code: String?
    var milliseconds = 0
    /// Whether the session was usable afterward.
    var isUsableAfterward = true
    /// Whether the request didn't end, so that the probe exited.
    var hangs = false
}

/// A fault in the list.
struct Listing: Codable, Sendable {
    var family: String
    var name: String
    /// The allowed outcomes over Afar's own transports.
    var own: Set<Fault.Outcome>
    var urlSession: Set<Fault.Outcome>
    var mayTrap: Bool
    var mayHang: Bool

    init(_ fault: Fault) {
        (family, name, own) = (fault.family, fault.name, fault.expectation.outcomes)
        urlSession = (fault.urlSession?.mayBe ?? fault.expectation).outcomes
        mayTrap = fault.urlSession?.mayTrap ?? false
        mayHang = fault.urlSession?.mayHang ?? false
    }
}
