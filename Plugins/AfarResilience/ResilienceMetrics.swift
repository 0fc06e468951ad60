#if Metrics
    import AfarTransport
    public import CoreMetrics

    extension Resilience {
        /// Reports to swift-metrics. Requires the package trait `Metrics`.
        ///
        /// | Label | Kind | Meaning |
        /// | --- | --- | --- |
        /// | `http.client.resilience.events` | counter | the events; the dimension `event` is a ``ResilienceEvent/Kind`` |
        /// | `http.client.resilience.circuit` | gauge | the circuit: 0 closed, 0.5 half-open, 1 open |
        ///
        /// Both have the dimension `key`, such as `https://example.com`. For other figures, such as the number of waiting requests, read
        /// ``snapshot`` regularly.
        ///
        /// - Parameters:
        ///   - factory: The factory for the instruments. The default is the bootstrapped factory.
        ///   - hostLimit: The maximum number of hosts in the dimensions. Further hosts aren't reported. The default is 100.
        public func reportMetrics(to factory: any MetricsFactory = MetricsSystem.factory, hostLimit: Int = 100) {
            let instruments = Locked<[String: HostInstruments]>([:])
            observe { event in
                let host = instruments.withLock { instruments -> HostInstruments? in
                    if instruments[event.key] == nil, instruments.count < hostLimit {
                        instruments[event.key] = HostInstruments(event.key, factory)
                    }
                    return instruments[event.key]
                }
                host?.record(event.kind)
            }
        }
    }

    private struct HostInstruments: Sendable {
        private let counters: [ResilienceEvent.Kind: Counter]
        private let circuit: Gauge

        init(_ key: String, _ factory: any MetricsFactory) {
            let counters = ResilienceEvent.Kind.allCases.map { kind in
                let dimensions = [("key", key), ("event", kind.rawValue)]
                return (kind, Counter(label: "http.client.resilience.events", dimensions: dimensions, factory: factory))
            }
            self.counters = Dictionary(uniqueKeysWithValues: counters)
            circuit = Gauge(label: "http.client.resilience.circuit", dimensions: [("key", key)], factory: factory)
        }

        func record(_ kind: ResilienceEvent.Kind) {
            counters[kind]?.increment()
            switch kind {
            case .circuitOpened: circuit.record(1)
            case .circuitHalfOpened: circuit.record(0.5)
            case .circuitClosed: circuit.record(0)
            default: break
            }
        }
    }
#endif
