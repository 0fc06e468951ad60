import AfarCore
import AfarSerializers
import AfarServiceLifecycle
import AfarTestServer
import Foundation
import Logging
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

#if os(Linux)
    import AfarHTTP

    @Suite(.timeLimit(.minutes(1))) struct SessionServiceTests {
        private let session = Session(transport: HTTPTransport())
        private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

        private func group(_ services: any Service...) -> ServiceGroup {
            ServiceGroup(services: services, logger: logger)
        }

        /// Starts a request to a server that never responds, and returns its error.
        private func waitingRequest(to server: RawServer) async throws -> Task<AFError?, Never> {
            let request = session.request(server.url)
            let error = Task { await request.serializingString().response.error }
            try await server.head()
            return error
        }

        private func newRequestIsRefused() async -> Bool {
            await session.request("http://127.0.0.1:1").serializingString().response.error?
                .isSessionInvalidatedError == true
        }

        @Test func runningRequestsFinishAndNewOnesFail() async throws {
            let gate = RawServer.Gate()
            let server = try await RawServer.start([
                .receiveHead, .hold(gate), .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"),
            ])
            let request = session.request(server.url)
            let answer = Task { await request.serializingString().result }
            try await server.head()
            await testGracefulShutdown { trigger in
                async let service: Void = session.run()
                trigger.triggerGracefulShutdown()
                while await !newRequestIsRefused() {}
                gate.open()
                await service
            }
            #expect(try await answer.value.get() == "done")
            try await server.peerClosed(0)
        }

        @Test func requestsEndAfterAnotherLimit() async throws {
            let server = try await RawServer.start([.receiveHead, .waitForever])
            let error = try await waitingRequest(to: server)
            try await testGracefulShutdown { trigger in
                trigger.triggerGracefulShutdown()
                try await session.service(drainingFor: 0.05).run()
            }
            #expect(await error.value?.isSessionInvalidatedError == true)
        }

        @Test func servicesListedAfterTheSessionCanSendRequestsUntilTheyEnd() async throws {
            let server = try await TestServer.start()
            let (isRunning, start) = AsyncStream.makeStream(of: Void.self)
            let worker = Worker {
                start.finish()
                try await gracefulShutdown()
                #expect(try await session.request(server.url("/text")).serializingString().value.isEmpty == false)
            }
            let group = group(session, worker)
            async let end: Void = group.run()
            for await _ in isRunning {}
            await group.triggerGracefulShutdown()
            try await end
            #expect(server.requestCount(path: "/text") == 1)
            #expect(await newRequestIsRefused())
            await server.stop()
        }

        @Test func aSessionRunsUntilTheShutdown() async throws {
            let server = try await TestServer.start()
            let worker = Worker {
                for _ in 0..<3 {
                    _ = try await session.request(server.url("/text")).serializingString().value
                }
            }
            let end = ServiceGroupConfiguration.ServiceConfiguration(
                service: worker, successTerminationBehavior: .gracefullyShutdownGroup)
            let configuration = ServiceGroupConfiguration(
                services: [.init(service: session), end], logger: logger)
            try await ServiceGroup(configuration: configuration).run()
            #expect(await newRequestIsRefused())
            await server.stop()
        }

        @Test func cancellationEndsRequestsImmediately() async throws {
            let server = try await RawServer.start([.receiveHead, .waitForever])
            let error = try await waitingRequest(to: server)
            let service = Task { try await session.service(drainingFor: 3_600).run() }
            service.cancel()
            #expect(await error.value?.isSessionInvalidatedError == true)
            // A cancellation isn't reported as an error of the service.
            try await service.value
        }

        @Test func theGroupsLimitEndsRequests() async throws {
            let server = try await RawServer.start([.receiveHead, .waitForever])
            let error = try await waitingRequest(to: server)
            var configuration = ServiceGroupConfiguration(
                services: [.init(service: session.service(drainingFor: 3_600))], logger: logger)
            configuration.maximumGracefulShutdownDuration = .milliseconds(50)
            let group = ServiceGroup(configuration: configuration)
            let end = Task { try? await group.run() }
            await group.triggerGracefulShutdown()
            #expect(await error.value?.isSessionInvalidatedError == true)
            await end.value
        }

        @Test func theShortestLimitOfSeveralServicesApplies() async throws {
            let server = try await RawServer.start([.receiveHead, .waitForever])
            let error = try await waitingRequest(to: server)
            try await testGracefulShutdown { trigger in
                async let first: Void = session.run()
                async let second: Void = session.service(drainingFor: 0.05).run()
                trigger.triggerGracefulShutdown()
                await first
                try await second
            }
            #expect(await error.value?.isSessionInvalidatedError == true)
            // The session has ended, so another run ends as soon as the shutdown begins.
            await testGracefulShutdown { trigger in
                trigger.triggerGracefulShutdown()
                await session.run()
            }
        }
    }

    private struct Worker: Service {
        let work: @Sendable () async throws -> Void

        func run() async throws { try await work() }
    }
#endif
