import HTTPTypes

/// A stage that limits the number of requests to a host that are in flight. Further requests wait in the order of their arrival.
///
/// ```swift
/// let session = Session(stages: [RequestLimit(perHost: 4)])
/// ```
///
/// A request is in flight until its response is complete. If the body is streamed, the request is in flight until the response's
/// head arrives. Connections have a separate limit (`httpMaximumConnectionsPerHost`). This limit matters for HTTP/2, where many
/// requests share a connection.
public struct RequestLimit: ExchangeStage {
    private let places: Places

    /// Creates a stage. Sessions that use the same stage share its limit.
    ///
    /// - Parameter limit: The maximum number of requests to one origin (scheme, host, and port) in flight. The minimum is 1.
    public init(perHost limit: Int) { places = Places(limit: max(1, limit)) }

    /// Returns a run for each exchange.
    public func begin(_ hop: Hop) -> (any StageRun)? { Run(places) }

    private final class Run: StageRun {
        private let places: Places
        /// The place that the request holds or waits for.
        private let place = InlineLocked<Places.Place?>(nil)

        init(_ places: Places) { self.places = places }

        func before(_ hop: Hop) -> Reply<RequestAction> {
            let host = "\(hop.exchange.request.scheme ?? "")://\(hop.exchange.request.authority ?? "")"
            // A request that is sent again keeps its place.
            guard place.withLock({ $0 == nil }) else { return .now(.send) }
            let taken = places.take(at: host)
            place.withLock { $0 = taken }
            guard !taken.isThere else { return .now(.send) }
            return .wait {
                await withTaskCancellationHandler {
                    await taken.whenThere.value
                } onCancel: {
                    taken.whenThere.fulfill(())
                }
                return .send
            }
        }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
            guard let taken = place.withLock({ $0.take() }) else { return }
            places.leave(taken)
        }
    }

    /// The requests in flight and the waiting requests, by host.
    private final class Places: Sendable {
        final class Place: Sendable {
            let host: String
            let isThere: Bool
            let whenThere = Deferred<Void>()

            init(host: String, isThere: Bool) { (self.host, self.isThere) = (host, isThere) }
        }

        private struct Line {
            var present: [ObjectIdentifier: Place] = [:]
            var waiting: [Place] = []
        }

        private let limit: Int
        private let lines = Locked<[String: Line]>([:])

        init(limit: Int) { self.limit = limit }

        func take(at host: String) -> Place {
            lines.withLock { lines in
                let place = Place(host: host, isThere: (lines[host]?.present.count ?? 0) < limit)
                if place.isThere {
                    lines[host, default: Line()].present[ObjectIdentifier(place)] = place
                } else {
                    lines[host]?.waiting.append(place)
                }
                return place
            }
        }

        /// Releases a place, whether the request is in flight or still waits.
        func leave(_ place: Place) {
            let next = lines.withLock { lines -> Place? in
                guard var line = lines[place.host] else { return nil }
                defer { lines[place.host] = line.present.isEmpty ? nil : line }
                guard line.present.removeValue(forKey: ObjectIdentifier(place)) != nil else {
                    line.waiting.removeAll { $0 === place }
                    return nil
                }
                guard !line.waiting.isEmpty else { return nil }
                let next = line.waiting.removeFirst()
                line.present[ObjectIdentifier(next)] = next
                return next
            }
            next?.whenThere.fulfill(())
        }
    }
}
