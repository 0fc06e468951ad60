import AfarTesting
import Foundation
import Testing

@testable import AfarCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct CompositeEventMonitorTests {
    /// A monitor that implements both the generic and the specific method for parsed responses.
    private final class Parsing: EventMonitor {
        let queue = DispatchQueue(label: "parsing")
        let reported = Locked<[String]>([])

        func request<Value: Sendable>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
            reported.withLock { $0.append("\(Value.self)") }
        }

        func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
            reported.withLock { $0.append("plain") }
        }
    }

    private final class UnconstrainedParsing: EventMonitor {
        let queue = DispatchQueue(label: "parsing")
        let reported = Locked<[String]>([])

        func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
            reported.withLock { $0.append("\(Value.self)") }
        }
    }

    /// A type that isn't Sendable.
    private final class Box {
        var data: Data?
    }

    private struct BoxSerializer: DataResponseSerializerProtocol {
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Box { Box() }
    }

    private struct AnySerializer: DataResponseSerializerProtocol {
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Any { [1, "a"] as [Any] }
    }

    private struct OptionalSerializer: DataResponseSerializerProtocol {
        func serialize(
            request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?
        ) throws -> Data? { data }
    }

    @Test func valuesOfAnyTypeAreReported() async {
        let parsing = Parsing()
        let unconstrained = UnconstrainedParsing()
        let session = Session(
            eventMonitors: [parsing, unconstrained], transport: MockTransport { _ in .text("ok") })
        let queue = DispatchQueue(label: "handlers")
        let over = Deferred<Void>()
        session.request("http://mock/")
            .response(queue: queue) { _ in }
            .response(queue: queue, responseSerializer: Bytes()) { _ in }
            .response(queue: queue, responseSerializer: BoxSerializer()) { _ in }
            .response(queue: queue, responseSerializer: AnySerializer()) { _ in }
            .response(queue: queue, responseSerializer: OptionalSerializer()) { _ in over.fulfill(()) }
        await over.value
        parsing.queue.sync {}
        unconstrained.queue.sync {}
        #expect(parsing.reported.withLock { $0 } == ["plain", "Data", "Box", "Any", "Optional<Data>"])
        #expect(unconstrained.reported.withLock { $0 } == ["Data", "Box", "Any", "Optional<Data>"])
    }

    /// A monitor that receives all events in one method.
    private final class Receiver: EventMonitor {
        let queue = DispatchQueue(label: "receiver")
        let reported = Locked<[String]>([])

        func receive(_ event: RequestEvent) {
            let name =
                switch event {
                case .requestDidResume: "resume"
                case .dataTaskDidReceiveResponse(_, let response as HTTPURLResponse): "status \(response.statusCode)"
                case .dataTaskDidReceiveData(_, let data): "\(data.count) bytes"
                case .requestDidValidate(_, _, _, .data(let data), let result):
                    "\(data?.count ?? 0) valid: \(result.error == nil)"
                case .requestDidFinish: "finish"
                case .requestDidParse(_, let value): "\(value.type): \(value.error == nil)"
                default: ""
                }
            reported.withLock { $0.append(name) }
        }

        // Not called, because `receive` doesn't forward the event.
        func requestDidFinish(_ request: Request) { reported.withLock { $0.append("unexpected") } }
    }

    @Test func aMonitorCanReceiveAllEventsInOneMethod() async {
        let receiver = Receiver()
        let session = Session(
            eventMonitors: [CompositeEventMonitor(monitors: [receiver])], transport: MockTransport { _ in .text("ok") })
        _ = await session.request("http://mock/").validate(statusCode: [200]).serializingResponse(using: Bytes())
            .response
        session.eventMonitor.monitors.first?.queue.sync {}
        receiver.queue.sync {}
        #expect(
            receiver.reported.withLock { $0 }.filter { !$0.isEmpty } == [
                "resume", "status 200", "2 bytes", "2 valid: true", "finish", "Data: true",
            ])
    }

    /// A subclass that receives all events and still calls the closures.
    private final class Tap: ClosureEventMonitor, @unchecked Sendable {
        let count = Locked(0)

        override func receive(_ event: RequestEvent) {
            count.withLock { $0 += 1 }
            super.receive(event)
        }
    }

    @Test func aSubclassOfTheClosureMonitorCanReceiveAllEvents() async {
        let tap = Tap(queue: DispatchQueue(label: "tap"))
        let hasFinished = Deferred<Void>()
        tap.requestDidFinish = { _ in hasFinished.fulfill(()) }
        let session = Session(eventMonitors: [tap], transport: MockTransport { _ in .text("ok") })
        _ = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        await hasFinished.value
        #expect(tap.count.withLock { $0 } > 5)
    }

    @Test func methodsOfReceiversCanBeCalled() {
        let lines = Locked<[String]>([])
        let log = LoggingMonitor(queue: DispatchQueue(label: "log")) { entry in
            lines.withLock { $0.append(entry.message) }
        }
        let session = Session(transport: MockTransport { _ in .text("ok") })
        let request = session.request("http://mock/", shouldAutomaticallyResume: false)
        CompositeEventMonitor(monitors: [log]).requestDidFinish(request)
        log.queue.sync {}
        log.requestDidFinish(request)
        #expect(lines.withLock { $0.count } == 2)
    }

    @Test func eachMonitorIsNotifiedInOrderOnItsQueue() async {
        let monitors = (0..<3).map { ClosureEventMonitor(queue: DispatchQueue(label: "monitor \($0)")) }
        let reported = monitors.map { _ in Locked<[String]>([]) }
        for (monitor, reported) in zip(monitors, reported) {
            monitor.requestDidResume = { [queue = monitor.queue] _ in
                dispatchPrecondition(condition: .onQueue(queue))
                reported.withLock { $0.append("resume") }
            }
            monitor.requestDidCreateURLRequest = { _, _ in reported.withLock { $0.append("create") } }
            monitor.requestDidFinish = { _ in reported.withLock { $0.append("finish") } }
        }
        let nested = CompositeEventMonitor(monitors: [monitors[1], CompositeEventMonitor(monitors: [monitors[2]])])
        let session = Session(
            eventMonitors: [monitors[0], nested], transport: MockTransport { _ in .text("ok") })
        #expect(session.eventMonitor.monitors.count == 2)
        _ = await session.request("http://mock/").serializingResponse(using: Bytes()).response
        nested.queue.sync {}
        (nested.monitors[1] as? CompositeEventMonitor)?.queue.sync {}
        for (monitor, reported) in zip(monitors, reported) {
            monitor.queue.sync {}
            #expect(reported.withLock { $0 } == ["resume", "create", "finish"])
        }
    }
}
