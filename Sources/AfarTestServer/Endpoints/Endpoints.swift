/// All built-in routes.
enum Endpoints {
    static let all: [TestServer.Endpoint] = [
        // Echo
        .init("/anything", "Echoes the request as JSON", Echo.answer),
        .init("/anything/*", "Echoes the request as JSON", Echo.answer),
        .init("/echo", "The content type and the text of the request", Echo.text),
        .init("/get", methods: ["GET"], "Echoes a GET", Echo.answer),
        .init("/post", methods: ["POST"], "Echoes a POST", Echo.answer),
        .init("/put", methods: ["PUT"], "Echoes a PUT", Echo.answer),
        .init("/patch", methods: ["PATCH"], "Echoes a PATCH", Echo.answer),
        .init("/delete", methods: ["DELETE"], "Echoes a DELETE", Echo.answer),
        .init("/headers", "The request's header fields as JSON", Echo.headers),
        .init("/upload", "Counts and sums a body of any size, see BodyChecksum", Echo.upload),

        // Status and head
        .init("/status/{code}", "Answers with a status from 200 to 999", Statuses.status),
        .init("/response-headers", "Sends the query's arguments as header fields", Statuses.headers),
        .init("/unstable", "Status 503 for the first ?failures requests of a ?key, then 200", Unstable().answer),

        // Redirects
        .init("/redirect/{n}", "n redirects with status 302, then /get", Redirects.chain),
        .init("/redirect-to", "A redirect to ?url with ?status_code, by default 302", Redirects.to),

        // Time and streams
        .init("/delay/{seconds}", "Echoes the request after some seconds", Streams.delay),
        .init("/drip", "Sends ?bytes, chunked and evenly over ?seconds", Streams.drip),
        .init("/chunked/{n}", "n chunks, each a line of text", Streams.chunks),
        .init("/stream/{n}", "n lines, each a JSON object, chunked", Streams.lines),
        .init(
            "/events/{n}", "Server-sent events with the IDs 1 to n, after that in Last-Event-ID; 204 after the last",
            Streams.events),

        // Large bodies
        .init("/bytes/{n}", "n pseudo-random bytes of a ?seed, see PseudoRandomBytes", Payload.random),
        .init("/large/{n}", "n cheap bytes, see PatternBytes", Payload.pattern),
        .init(
            "/range/{n}",
            "As /large, or the bytes of a ?seed; honors Range and conditions; ends at ?cuts=1,2, pauses at ?stalls=1,2",
            Payload.range),
        .init("/gzip", "An echo with Content-Encoding gzip", Compression.gzip),
        .init("/deflate", "An echo with Content-Encoding deflate, in the zlib format", Compression.deflate),
        .init("/gzip-bomb", "?bytes zeros, by default 50 MB, compressed about 159 to 1", Compression.bomb),

        // Caching
        .init("/etag/{value}", "An entity tag; honors If-None-Match and If-Match", Caching.entityTag),
        .init("/cache/{seconds}", "Can be cached; the body counts the requests to the server", Caching().maxAge),
        .init("/vary", "Varies by Accept and Accept-Language", Caching.vary),

        // Credentials and cookies
        .init("/basic-auth/{user}/{password}", "Requires these Basic credentials, or sends 401", Authentication.basic),
        .init("/bearer", "Requires any Bearer token, or sends 401", Authentication.bearer),
        .init("/digest-auth", "Requires any Digest credentials, or sends 401", Authentication.digest),
        .init("/cookies", "The cookies received as JSON", Cookies.received),
        .init("/cookies/set", "Sets the query's arguments as cookies", Cookies.set),

        // Documents
        .init("/json", "A JSON object", Documents.json),
        .init("/xml", "An XML document", Documents.xml),
        .init("/plist", "A property list in XML", Documents.propertyList),
        .init("/plist/binary", "The same property list in the binary format", Documents.binaryPropertyList),
        .init("/html", "An HTML page", Documents.html),
        .init("/text", "Plain text", Documents.text),
        .init("/utf8", "Text in many scripts, UTF-8", Documents.unicode),
        .init("/encoding/{charset}", "A text in another charset, see SampleText", Documents.encoded),
        .init("/empty", "Status 200 with no body", Documents.empty),
        .init("/image/png", "A PNG image of 8 by 8 pixels", Documents.image),
    ]
}

extension TestServer {
    /// One of the routes that every ``TestServer`` has.
    public struct Endpoint: Sendable {
        /// The path. `{name}` matches any segment, and a final `*` matches the rest of the path.
        public let pattern: String
        /// The methods that the route answers; `nil` for all. GET includes HEAD.
        public let methods: Set<String>?
        /// A description, including the query arguments that the route reads.
        public let summary: String

        private let makeAnswer: @Sendable () -> @Sendable (ServerRequest) throws -> ServerResponse

        /// The handler is created for each server, so an endpoint's counters start at 0.
        init(
            _ pattern: String,
            methods: Set<String>? = nil,
            _ summary: String,
            _ answer: @autoclosure @escaping @Sendable () -> @Sendable (ServerRequest) throws -> ServerResponse
        ) {
            self.pattern = pattern
            self.methods = methods
            self.summary = summary
            makeAnswer = answer
        }

        func route() -> Route {
            Route(pattern, methods: methods, handler: .immediate(makeAnswer()))
        }
    }

    /// The built-in routes.
    public static var endpoints: [Endpoint] { Endpoints.all }
}

/// An invalid argument, for which the server responds with status 400.
struct BadArgument: Error {
    let reason: String
}

extension ServerRequest {
    /// Returns a number from the path, or from the query if the path has none.
    func number<Number: LosslessStringConvertible & Comparable>(
        _ name: String,
        in range: ClosedRange<Number>,
        default: Number? = nil
    ) throws -> Number {
        guard let text = parameters[name] ?? argument(name) else {
            if let `default` { return `default` }
            throw BadArgument(reason: "\(name) is missing")
        }
        guard let number = Number(text), range.contains(number) else {
            let wanted = "a number from \(range.lowerBound) to \(range.upperBound)"
            throw BadArgument(reason: "\(name) is \(text), not \(wanted)")
        }
        return number
    }

    /// Returns a count from the path, or from the query if the path has none.
    func count(_ name: String, default: Int? = nil) throws -> Int {
        try number(name, in: 0...(1 << 50), default: `default`)
    }

    /// Returns seconds from the path, or from the query if the path has none. The maximum is a day.
    func seconds(_ name: String, default: Double? = nil) throws -> Double {
        try number(name, in: 0...86_400, default: `default`)
    }
}
