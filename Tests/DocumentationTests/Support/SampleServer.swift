import Afar
import AfarTestServer

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The session that samples use as `AF`. It replaces `api.example.com` with the server below.
let AF = Session(transport: SampleTransport(base: Session.default.transport))

/// Sends requests for `api.example.com` to a server in this process, and all others unchanged.
struct SampleTransport: Transport {
    let base: any Transport

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        let url = try await SampleServer.shared.value.url
        let authority = "127.0.0.1:\(url.port ?? 0)"
        return try await Rerouted(base: base, host: "api.example.com", authority: authority).send(exchange)
    }
}

/// The service that the guides use.
enum SampleServer {
    static let shop = """
        <?xml version="1.0" encoding="UTF-8"?>
        <shop currency="EUR">
          <item id="1"><title>Tea</title><price>4.5</price><tag>green</tag><tag>fresh</tag></item>
          <item id="2"><title>Teapot</title><price unit="CHF">20</price><soldOut>2026-01-02T03:04:05Z</soldOut></item>
        </shop>
        """

    static let shared = Task {
        let server = try await TestServer.start()
        server.route("/users/0") { _ in .text("no such user", status: 404) }
        server.route("/users/1", methods: ["GET"]) { _ in json(#"{"id":1,"name":"Ada"}"#) }
        server.route("/users/2", methods: ["GET"]) { _ in json(#"{"id":2,"name":"Grace"}"#) }
        server.route("/users/1", methods: ["DELETE"]) { _ in ServerResponse(status: 204) }
        server.route("/users", methods: ["POST"]) { request in .text(request.text ?? "") }
        server.route("/search") { request in .text(request.target) }
        server.route("/filter") { request in .text("\(request.method) \(request.target) \(request.bodyLength)") }
        server.route("/me") { request in
            let trace = request.headers["X-Trace"] ?? "none"
            return .text("\(request.headers["Authorization"] ?? "nobody"), trace \(trace)").adding("X-Api-Version", "2")
        }
        server.route("/moved") { _ in ServerResponse(status: 302).adding("Location", "/me") }
        server.route("/vault") { request in
            guard request.headers["Authorization"] == "Basic YWRhOnMzY3JldA==" else {
                return .text("no", status: 401).adding("WWW-Authenticate", #"Basic realm="vault""#)
            }
            return .text("The vault is open")
        }
        server.route("/motd") { _ in .text("Be kind.") }
        server.route("/haiku") { _ in
            .content("text/plain; charset=Shift_JIS", Data([0x8C, 0xC3, 0x92, 0x72, 0x82, 0xE2]))
        }
        server.route("/unlabelled") { _ in
            .content("text/plain", Data([0x8A, 0x5E, 0x94, 0xF2, 0x82, 0xD1, 0x82, 0xB1, 0x82, 0xDE]))
        }
        server.route("/martian") { _ in
            .content("text/plain; charset=martian", Data("Take me to your leader".utf8) + [0x85])
        }
        server.route("/broken.json") { _ in json("{\n  \"a\": x}") }
        server.route("/shop.xml") { _ in .content("application/xml", Data(shop.utf8)) }
        server.route("/page.html") { _ in
            .content("text/html", Data("<title>Links</title><p><a href=/one>1<p><a href='/two'>2</a>".utf8))
        }
        server.route("/old.xml") { _ in
            .content("text/xml", Data("<!DOCTYPE note SYSTEM 'note.dtd'><note>plain</note>".utf8))
        }
        server.route("/tags") { _ in .text("red,green,blue") }
        server.route("/settings") { _ in
            let list = try PropertyListEncoder().encode(["theme": "dark"])
            return .content("application/x-plist", list)
        }
        server.route("/busy") { request in
            guard request.headers["Authorization"] == "Bearer s3cret" else { return .text("who?", status: 401) }
            return server.requestCount(path: "/busy") > 2 ? .text("At last") : .text("busy", status: 503)
        }
        server.route("/flaky") { request in
            guard request.query == "locked" else {
                return server.requestCount(path: "/flaky") > 1 ? .text("Steady") : .text("tremble", status: 503)
            }
            return server.requestCount(path: "/flaky") > 3 ? .text("Unlocked") : .text("locked", status: 423)
        }
        server.route("/crowded") { _ in
            let isFree = server.requestCount(path: "/crowded") > 1
            return isFree ? .text("Your turn") : .text("wait", status: 429).adding("Retry-After", "1")
        }
        server.route("/oauth/token") { request in
            guard request.text?.contains("refresh_token=r1") == true else { return .text("who?", status: 400) }
            return json(#"{"access":"a2","refresh":"r2","expires":4000000000}"#)
        }
        server.route("/account") { request in
            let isKnown = request.headers["Authorization"] == "Bearer a2"
            return isKnown ? .text("Ada's account") : .text("expired", status: 401)
        }
        server.route("/orders") { request in
            let date = request.headers["X-Date"] ?? ""
            let head = Data("\(request.method)\n\(request.path)\n\(request.query)\n\(date)\n".utf8)
            let signature = standInHMAC(head + request.body).base64EncodedString()
            let isSigned = request.headers["Authorization"] == "Signature keyId=\"k1\", signature=\"\(signature)\""
            return isSigned ? .text("Ordered \(request.text ?? "")") : .text("forged", status: 403)
        }
        server.route("/notes", methods: ["GET"]) { request in .text("Notes of \(request.target)") }
        server.route("/notes", methods: ["POST"]) { request in
            .text("\(request.headers["Content-Type"] ?? "no type"): \(request.text ?? "")")
        }
        server.route("/one-note") { _ in json(#"{"id":7,"text":"whole"}"#) }
        server.route("/feed") { _ in
            ServerResponse(headers: ["Content-Type": "application/x-ndjson"]) { body in
                for (id, text) in ["tea", "jam", "scones"].enumerated() {
                    try body.write("{\"id\":\(id),\"text\":\"\(text)\"}\n")
                }
            }
        }
        server.route("/answer") { _ in
            .content("text/event-stream", Data("event: word\ndata: forty\n\nevent: word\ndata: two\n\n".utf8))
        }
        server.route("/prices") { request in
            guard let last = Int(request.headers["Last-Event-ID"] ?? "0"), last < 2 else {
                return ServerResponse(status: 204)
            }
            let event = "retry: 1\nid: \(last + 1)\ndata: {\"name\":\"tea\",\"pence\":\(120 + last)}\n\n"
            return .content("text/event-stream", Data(event.utf8))
        }
        server.route("/measurements") { _ in .text("1.5;x;-2;") }
        server.route("/deployment") { _ in
            .content("application/yaml", Data("name: web\nreplicas: 3\n".utf8))
        }
        server.route("/deployments", methods: ["GET"]) { _ in
            .content("application/yaml", Data("name: web\nreplicas: 3\n---\nname: db\nreplicas: 1\n".utf8))
        }
        server.route("/deployments", methods: ["POST"]) { request in
            .text("\(request.headers["Content-Type"] ?? "no type"): \(request.text ?? "")")
        }
        for path in ["/tables", "/people", "/backups", "/videos"] { server.route(path, receipt) }
        server.route("/countdown") { request in
            guard server.requestCount(path: "/countdown") > 1 else { return .text("busy", status: 503) }
            return receipt(request)
        }
        server.route("/never") { _ in
            try await Task.sleep(for: .seconds(600))
            return .text("never")
        }
        return server
    }

    /// A placeholder for a keyed hash. It isn't secure.
    @Sendable static func standInHMAC(_ message: Data) -> Data {
        let hash = message.reduce(into: UInt64(14_695_981_039_346_656_037)) { hash, byte in
            hash = (hash ^ UInt64(byte)) &* 1_099_511_628_211
        }
        return withUnsafeBytes(of: hash.bigEndian) { Data($0) }
    }

    /// Describes the received request and the framing of its body.
    @Sendable private static func receipt(_ request: ServerRequest) -> ServerResponse {
        let type = request.headers["Content-Type"]?.prefix { $0 != ";" } ?? "no type"
        let length = request.headers["Content-Length"].map { "length \($0)" } ?? "chunked"
        return .text("\(request.method) \(request.path), \(type), \(length): \(request.bodyLength) bytes")
    }

    private static func json(_ text: String) -> ServerResponse {
        .content("application/json", Data(text.utf8))
    }
}
