import AfarReachability
import Foundation

/// The probe's report about a path, as one line of JSON.
struct ProbeReport: Codable, Equatable {
    /// The time in nanoseconds of the system's monotonic clock, which all processes share.
    let time: UInt64
    let status: String
    let isOnline: Bool
    let interfaces: [String]
    let kinds: [String]
    let addresses: [String]
    let gateways: [String]
    let supportsIPv4: Bool
    let supportsIPv6: Bool

    init(_ path: NetworkPath) {
        time = Self.now
        status = path.status.description
        isOnline = path.isOnline
        interfaces = path.interfaces.map(\.name)
        kinds = path.interfaces.map(\.kind.rawValue)
        addresses = path.interfaces.flatMap { $0.addresses.map(\.description) }
        gateways = path.gateways.map(\.description)
        supportsIPv4 = path.supportsIPv4
        supportsIPv6 = path.supportsIPv6
    }

    static var now: UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
    }
}
