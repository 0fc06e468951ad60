import Afar
import Foundation

/// A path as programs read it.
struct ReachFacts: Encodable {
    let target: String
    let time: String
    let status: String
    let reason: String?
    let ipv4: Bool
    let ipv6: Bool
    let interfaces: [Interface]
    let gateways: [String]
    let routes: [Route]

    struct Interface: Encodable {
        let name: String
        let index: Int
        let kind: String
        let underlyingKind: String
        let addresses: [String]
    }

    struct Route: Encodable {
        let destination: String
        let gateway: String?
        let interface: String?
        let metric: Int
        let table: Int
    }

    init(_ path: NetworkPath, target: String, date: Date) {
        self.target = target
        time = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        status = path.status.word
        reason = path.status.reason
        ipv4 = path.supportsIPv4
        ipv6 = path.supportsIPv6
        interfaces = path.interfaces.map { interface in
            Interface(
                name: interface.name, index: interface.index, kind: interface.kind.rawValue,
                underlyingKind: interface.underlyingKind.rawValue, addresses: interface.addresses.map(\.description))
        }
        gateways = path.gateways.map(\.description)
        routes = path.routes.map { route in
            Route(
                destination: "\(route.destination)/\(route.prefixLength)", gateway: route.gateway?.description,
                interface: route.interface, metric: route.metric, table: route.table)
        }
    }
}
