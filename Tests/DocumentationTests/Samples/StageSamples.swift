import AfarCore
import Foundation
import HTTPTypes

// The stages that the page about the inside sketches, against the real protocol.

protocol CookieJar: Sendable {
    func header(for url: String) -> String?
    func store(_ values: [String], from url: String)
}

struct CookieStage: ExchangeStage {
    let jar: any CookieJar
    func begin(_ hop: Hop) -> (any StageRun)? { Run(jar: jar) }
    struct Run: StageRun {
        let jar: any CookieJar
        func before(_ hop: Hop) -> Reply<Departure> {
            guard let cookies = jar.header(for: hop.exchange.url) else { return .now(.send) }
            var exchange = hop.exchange
            exchange.request.headerFields[.cookie] = cookies
            // Seen by the stages after this one only, so no redirect carries it elsewhere.
            return .now(.change(exchange))
        }
        func head(_ head: ResponseHead, of hop: Hop) -> Reply<Disposition> {
            jar.store(head.values(for: .setCookie), from: hop.exchange.url)
            return .now(.pass)
        }
    }
}

enum CacheEntry: Sendable {
    case fresh(TransportResponse)
    case stale(HTTPFields)
}

protocol ResponseCache: Sendable {
    func entry(for request: HTTPRequest) -> CacheEntry?
    func refreshed(by head: ResponseHead, for request: HTTPRequest) -> TransportResponse?
    func store(_ response: TransportResponse, for request: HTTPRequest)
}

enum CacheSample {
    struct Run: StageRun {
        let cache: any ResponseCache
        func before(_ hop: Hop) -> Reply<Departure> {
            switch cache.entry(for: hop.exchange.request) {
            case .fresh(let response): .now(.answer(response))  // The stages before see its head as any other.
            case .stale(let validators): .now(.change(hop.exchange.asking(validators)))
            case nil: .now(.send)
            }
        }
        func head(_ head: ResponseHead, of hop: Hop) -> Reply<Disposition> {
            guard head.status == 304, let kept = cache.refreshed(by: head, for: hop.exchange.request) else {
                return .now(.pass)
            }
            return .now(.replace(kept))
        }
        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) {
            if case .success(let response) = result { cache.store(response, for: hop.exchange.request) }
        }
    }
}

extension Exchange {
    fileprivate func asking(_ validators: HTTPFields) -> Exchange {
        var exchange = self
        for field in validators { exchange.request.headerFields.append(field) }
        return exchange
    }
}
