import AfarCore
import AfarTestServer
import ArgumentParser
import Foundation
import Testing

@testable import AfarCLI

@Suite(.timeLimit(.minutes(10))) struct TimeArgumentTests {
    @Test(arguments: [("10s", 10), ("10", 10), ("500ms", 0.5), ("2m", 120), ("1.5h", 5400), (".5", 0.5), ("30.", 30)])
    func timesHaveUnits(text: String, seconds: Double) throws {
        #expect(try TimeArgument(text, option: "--duration").seconds == seconds)
    }

    @Test(arguments: [
        "", "s", "-1s", "0", "1e9h", "nan", "inf", "10 s", "1d", "1.2.3", "0x10", "169h", "٣", "1ms2", "m",
    ])
    func otherTimesAreErrors(text: String) {
        #expect(throws: (any Error).self) { try TimeArgument(text, option: "--duration") }
    }

    @Test(arguments: [(0.001, "1ms"), (0.5, "500ms"), (1.5, "1.5"), (30, "30"), (5400, "5400"), (86_400, "24h")])
    func timesAreShort(seconds: Double, text: String) { #expect(TimeArgument(seconds: seconds).description == text) }

    @Test(arguments: [
        ["get", ":1", "-m"], ["get", ":1", "--timeout"], ["get", ":1", "--connect-timeout"],
        ["get", ":1", "--retry", "1", "--retry-delay"], ["get", ":1", "--keepalive-time"], ["ws", ":1", "--ping"],
        ["ws", ":1", "--wait"], ["connect", ":1", "--timeout"], ["trust", ":1", "--timeout"],
        ["bench", ":1", "--duration"],
    ])
    func everyTimeHasUnits(arguments: [String]) async throws {
        #expect(throws: Never.self) { try AfarTool.parseAsRoot(arguments + ["1s"]) }
        #expect(throws: Never.self) { try AfarTool.parseAsRoot(arguments + ["2m"]) }
        let outcome = try await Tool.run(arguments + ["1x"])
        #expect(outcome.status == 2)
        let option = arguments.last == "-m" ? "--timeout" : arguments.last ?? ""
        #expect(outcome.errors.hasPrefix("afar: \(option) requires a time from "), "\(outcome.errors)")
    }

    @Test func zeroMeansNoTimeout() throws {
        let command = try RequestCommand<AnyRequest>.parse([":1", "-m", "0", "--connect-timeout", "0"])
        let plan = try RequestPlan(
            command.target.target(hasMethod: true), command.choice, commandMethod: nil, command, command.body)
        let configuration = try command.makeSession(for: plan) { $0 }.configuration
        #expect(configuration.timeoutIntervalForResource > 1e8 && configuration.timeoutIntervalForRequest > 1e8)
        #expect(configuration.timeoutIntervalForConnect > 1e8)
        let text = CurlCommand(plan, command, showsSecrets: false).text(.standard)
        #expect(text.contains(" --max-time 0 --connect-timeout 0 "), "\(text)")
    }

    @Test func aTimeoutInMillisecondsEndsTheRequest() async throws {
        let server = try await RawServer.start([.receiveHead, .waitForever])
        let outcome = try await Tool.run("get", server.url.absoluteString, "-m", "100ms")
        #expect(outcome.status == 5, "\(outcome.errors)")
        await server.stop()
    }

    @Test func curlReceivesSeconds() async throws {
        let outcome = try await Tool.run(
            "get", ":1/x", "-m", "500ms", "--connect-timeout", "2m", "--keepalive-time", "1500ms", "--curl")
        #expect(outcome.text.contains(" --max-time 0.500 --connect-timeout 120 --keepalive-time 2 "), "\(outcome.text)")
    }
}
