import Afar
import AfarCore
import Foundation

/// Records the events of a stream's handler.
final class StreamLog<Value: Sendable>: Sendable {
    struct Event: Sendable {
        var value: Value?
        var error: AFError?
        var completion: DataStreamRequest.Completion?
    }

    let queue = DispatchQueue(label: "seen")
    private let noted = Locked<[Event]>([])
    private let completed = Deferred<DataStreamRequest.Completion>()

    var events: [Event] { noted.withLock { $0 } }
    var completion: DataStreamRequest.Completion {
        get async { await completed.value }
    }

    func note<Failure: Error>(_ stream: DataStreamRequest.Stream<Value, Failure>) throws {
        try note(stream, keepsData: true)
    }

    func note<Failure: Error>(_ stream: DataStreamRequest.Stream<Value, Failure>, keepsData: Bool) throws {
        let event = Event(
            value: keepsData ? stream.value : nil, error: stream.error as? AFError, completion: stream.completion)
        noted.withLock { $0.append(event) }
        if let completion = event.completion { completed.fulfill(completion) }
    }
}

/// An event that occurs once.
final class Signal: Sendable {
    private let deferred = Deferred<Void>()

    func set() { deferred.fulfill(()) }
    func wait() async { await deferred.value }
}
