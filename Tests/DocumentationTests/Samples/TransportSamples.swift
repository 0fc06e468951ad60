import Afar
import HTTPTypes

struct Rerouted: Transport {
    let base: any Transport
    let host: String
    let authority: String

    var capabilities: TransportCapabilities { base.capabilities }

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        var exchange = exchange
        if exchange.request.authority == host {
            exchange.request.scheme = "http"
            exchange.request.authority = authority
        }
        return try await base.send(exchange)
    }
}

struct Teapot: Transport {
    let capabilities = TransportCapabilities(name: "teapot", features: [])

    func send(_ exchange: Exchange) async throws -> TransportResponse {
        try capabilities.check(exchange)
        let head = ResponseHead(status: 418, fields: [.contentType: "text/plain"], url: exchange.url)
        return TransportResponse(head: head, body: .data(Data("short and stout".utf8)))
    }
}
