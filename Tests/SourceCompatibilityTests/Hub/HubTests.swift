import Afar
import AfarTestServer
import Testing

/// A complete client, written as for Alamofire 5.
@Suite(.serialized) struct HubTests {
    private func withClient(
        expiresIn seconds: TimeInterval = 3600,
        _ use: (HubClient, TestServer, HubMonitor) async throws -> Void
    ) async throws {
        let server = try await FakeHub.start()
        HubRouter.base = "http://127.0.0.1:\(server.url.port ?? 0)"
        let monitor = HubMonitor()
        let old = HubCredential(
            accessToken: "old", refreshToken: "again", expiration: Date(timeIntervalSinceNow: seconds))
        try await use(HubClient(base: HubRouter.base, credential: old, monitors: [monitor]), server, monitor)
        await server.stop()
    }

    @Test func aRejectedTokenIsRenewedAndABusyServerRetried() async throws {
        try await withClient { client, server, monitor in
            let repository = try await withCheckedContinuation { continuation in
                client.repository("ada", "engine") { continuation.resume(returning: $0) }
            }.get()
            #expect(
                repository
                    == Repository(
                        id: 7, fullName: "ada/engine", isPrivate: false, stars: 1843,
                        pushedAt: Date(timeIntervalSince1970: -3_986_712_000)))
            #expect(server.requestCount(path: "/token") == 1)
            #expect(server.requestCount(path: "/repos/ada/engine") == 3)
            let log = monitor.log
            #expect(log.retries == 2)
            #expect(log.lines.filter { $0 == "GET /repos/ada/engine" }.count == 3)
            #expect(log.lines.suffix(2) == ["finished 200", "parsed Repository"])
        }
    }

    @Test func anExpiringTokenIsRenewedInAdvance() async throws {
        try await withClient(expiresIn: 1) { client, server, _ in
            let issues = try await client.issues(of: "ada/engine", labels: ["bug", "gears"])
            #expect(issues.map(\.number) == [1, 2])
            #expect(issues.allSatisfy { $0.labels == ["bug", "gears"] && $0.state == .open })
            #expect(server.requestCount(path: "/token") == 1)
            #expect(server.requestCount(path: "/repos/ada/engine/issues") == 3)
            let last = server.lastRequest(path: "/repos/ada/engine/issues")
            #expect(last?.query == "labels=bug&labels=gears&page=3&state=open")
            #expect(last?.headers["User-Agent"] == "HubClient/1.0")
            #expect(last?.headers["Accept"] == "application/vnd.hub+json")
        }
    }

    @Test func issuesAreCreatedClosedAndDeleted() async throws {
        try await withClient(expiresIn: 1) { client, server, _ in
            let created = try await client.createIssue("Gears grind", labels: ["bug"], in: "ada/engine").get()
            #expect(created == Ticket(number: 3, title: "Gears grind", state: .open, labels: ["bug"]))
            let closed = try await client.close(3, of: "ada/engine")
            #expect(closed.state == .closed)
            let error = await withCheckedContinuation { continuation in
                client.deleteIssue(3, of: "ada/engine") { continuation.resume(returning: $0) }
            }
            #expect(error == nil)
            #expect(server.lastRequest(path: "/repos/ada/engine/issues/3")?.method == "DELETE")
        }
    }

    @Test func rejectionsContainTheServicesMessage() async throws {
        try await withClient(expiresIn: 1) { client, server, _ in
            guard case let .failure(.refused(status, message)) = await client.createIssue("", in: "ada/engine") else {
                Issue.record("the request was not rejected")
                return
            }
            #expect(status == 422)
            #expect(message == "An issue needs a title.")
            let count = server.requestCount(path: "/repos/ada/engine/issues")
            #expect(count == 1, "a rejected request isn't retried")
        }
    }

    @Test func filesAreUploadedAndDownloaded() async throws {
        try await withClient { client, _, _ in
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("hub-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let file = folder.appendingPathComponent("engine.txt")
            try Data("brass\n".utf8).write(to: file)
            let assets = try await client.attach("The first release", and: file, to: 1)
            #expect(assets == [Asset(name: "engine.txt", size: 6)])
            let archive = try await client.archive(of: "ada/engine", into: folder.appendingPathComponent("archives"))
            #expect(archive.lastPathComponent == "engine.zip")
            let bytes = try Data(contentsOf: archive)
            #expect(bytes.count == 100_000)
        }
    }

    @Test func eventsAreReadUpToALimit() async throws {
        try await withClient { client, _, _ in
            let events = try await client.events(1)
            #expect(events == [Event(kind: "push", actor: "ada")])
            await client.cancelEverything()
        }
    }
}
