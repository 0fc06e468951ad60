#if !HTTP2
    import AfarTransport
    import HTTPTypes

    // Without the package trait HTTP2, these types have no values. The engine compiles unchanged, and its HTTP/2 code never runs.

    enum HTTP2Session {
        enum Configuration: Hashable {}
    }

    struct HTTP2Connection {
        static let features: TransportCapabilities.Features = []

        private let never: Never

        init(
            over connection: HTTPConnection, engine: HTTPEngine, _ configuration: HTTP2Session.Configuration
        ) throws(Fault) {
            switch configuration {}
        }

        var isDraining: Bool { switch never {} }
        var canOpenStream: Bool { switch never {} }
        var streamLimit: Int { switch never {} }
        var supportsWebSockets: Bool { switch never {} }
        var nextDeadline: UInt64 { switch never {} }
        var exchangeCount: Int { switch never {} }
        var isIdle: Bool {
            get { switch never {} }
            set { switch never {} }
        }

        func assume(streamLimit: Int) { switch never {} }
        func begin(_ exchange: HTTPExchange) { switch never {} }
        func proceed(_ exchange: HTTPExchange) { switch never {} }
        func remove(_ exchange: HTTPExchange) { switch never {} }
        func sayGoodbye() { switch never {} }
        func check(at now: UInt64) { switch never {} }
        func takeTurn() { switch never {} }
    }

    struct HTTP2Stream {
        private let never: Never

        var trailers: HTTPFields { switch never {} }
        var bodyByteCount: Int64 { switch never {} }
    }
#endif
