import Afar
import AfarCore
import AfarTestServer
import Foundation
import Testing

/// The queue, order and number of handler calls, and the calls to handlers that are added late.
@Suite struct HandlerGuaranteeTests {
    @Test(arguments: TransportKind.allCases)
    func handlersRunOnTheirQueueAndOnMainByDefault(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let queue = DispatchQueue(label: "handlers")
        let request = session.request(server.url("/get"))
        await withCheckedContinuation { continuation in
            request.response(queue: queue) { _ in
                dispatchPrecondition(condition: .onQueue(queue))
                continuation.resume()
            }
        }
        await withCheckedContinuation { continuation in
            request.response { _ in
                dispatchPrecondition(condition: .onQueue(.main))
                continuation.resume()
            }
        }
        await server.stop()
    }

    /// The cooperative pool has one thread per processor. User code can block all of them while it waits for a handler.
    @Test func handlersAreCalledWhileAllThreadsForTasksAreBlocked() async {
        await #expect(processExitsWith: .success) {
            let server = try await TestServer.start()
            let session = Session()
            let url = server.url("/redirect/2")
            let count = ProcessInfo.processInfo.activeProcessorCount + 2
            let answered = await withTaskGroup(of: Bool.self) { group in
                for number in 0..<count {
                    group.addTask {
                        let isAnswered = DispatchSemaphore(value: 0)
                        session.request(url, method: .post, parameters: ["a": number])
                            .validate().response(queue: .global()) { _ in isAnswered.signal() }
                        return isAnswered.wait(timeout: .now() + 20) == .success
                    }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(answered == count)
        }
    }

    /// Task-local values are available in user code that the request runs, in each attempt.
    @Test(arguments: [nil, DispatchQueue(label: "own")])
    func taskLocalValuesReachUserCode(queue: DispatchQueue?) async throws {
        let seen = Locked<[String: Int]>([:])
        let note: @Sendable (String) -> Void = { step in
            if Traced.number == 7 { seen.withLock { $0[step, default: 0] += 1 } }
        }
        let server = try await TestServer.start()
        let session = Session(requestQueue: queue, serializationQueue: queue)
        let interceptor = Interceptor(
            adapters: [
                Adapter { urlRequest, _, completion in
                    note("adapter")
                    completion(.success(urlRequest))
                }
            ],
            retriers: [
                Retrier { request, _, _, completion in
                    note("retrier")
                    completion(request.retryCount == 0 ? .retry : .doNotRetry)
                }
            ])
        let serializer = ClosureResponseSerializer<Int> { _, _, _, _ in
            note("serializer")
            return 0
        }
        await Traced.$number.withValue(7) {
            let request = session.request(
                server.url("/status/500"), interceptor: interceptor, requestModifier: { _ in note("modifier") }
            ).validate { _, _, _ in
                note("validator")
                return .failure(AFError.explicitlyCancelled)
            }
            await withCheckedContinuation { continuation in
                request.response(queue: .global(), responseSerializer: serializer) { _ in continuation.resume() }
            }
        }
        #expect(
            seen.withLock { $0 } == ["modifier": 2, "adapter": 2, "validator": 2, "retrier": 2, "serializer": 1])
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func serializationNeverRunsOnTheHandlersQueue(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let serializer = ClosureResponseSerializer<Bool> { _, _, _, _ in
            dispatchPrecondition(condition: .notOnQueue(.main))
            return Thread.isMainThread
        }
        let ranOnMain = await withCheckedContinuation { continuation in
            session.request(server.url("/get")).response(responseSerializer: serializer) { response in
                continuation.resume(returning: response.value)
            }
        }
        #expect(ranOnMain == false)
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func serializersAndThenCompletionsRunOnceInOrder(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let steps = Steps()
        let queue = DispatchQueue(label: "handlers")
        let isBusy = Locked(false)
        let request = session.request(server.url("/get"), shouldAutomaticallyResume: false)
        await withCheckedContinuation { continuation in
            for index in 0..<4 {
                let serializer = ClosureResponseSerializer<Void> { _, _, _, _ in
                    let isAlone = isBusy.withLock { isBusy in
                        defer { isBusy = true }
                        return !isBusy
                    }
                    #expect(isAlone)
                    steps.take("serializer \(index)")
                    isBusy.withLock { $0 = false }
                }
                request.response(queue: queue, responseSerializer: serializer) { _ in
                    steps.take("completion \(index)")
                    if index == 3 { continuation.resume() }
                }
            }
            request.resume()
        }
        #expect(steps.taken == (0..<4).map { "serializer \($0)" } + (0..<4).map { "completion \($0)" })
        await server.stop()
    }

    @Test(arguments: TransportKind.allCases)
    func aLateHandlerReceivesTheStoredDataWithoutANewRequest(kind: TransportKind) async throws {
        let server = try await TestServer.start()
        let session = kind.session()
        let request = session.request(server.url("/text"))
        let first = try await request.serializingString().value
        #expect(request.isFinished)
        let serialized = Steps()
        let serializer = ClosureResponseSerializer<Int> { _, _, data, _ in
            serialized.take("late")
            return data?.count ?? 0
        }
        #expect(try await request.serializingResponse(using: serializer).value == first.utf8.count)
        let third = await withCheckedContinuation { continuation in
            request.responseString { continuation.resume(returning: $0.value) }
        }
        #expect(third == first)
        #expect(serialized.taken == ["late"])
        #expect(server.requestCount == 1)
        await server.stop()
    }
}

private enum Traced {
    @TaskLocal static var number = 0
}
