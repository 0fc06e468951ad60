import Afar
import AfarMetrics
import AfarPublishers
import AfarTracing
import Foundation

#if canImport(Combine)
    import Combine
#else
    import OpenCombine
#endif

enum PublisherSamples {
    struct User: Decodable, Sendable { var name: String }

    static func metrics() -> Session {
        let session = Session(eventMonitors: [MetricsMonitor()])
        return session
    }

    static func tracing() -> Session {
        let session = Session(stages: [TracingStage()])
        return session
    }

    static func publishers(queue: DispatchQueue) -> AnyCancellable {
        let subscription = AF.request("https://api.example.com/users/7")
            .publishDecodable(type: User.self, queue: queue)
            .value()
            .map(\.name)
            .sink(receiveCompletion: { print($0) }, receiveValue: { print("hello, \($0)") })
        return subscription
    }
}
