import AfarTransport
import Foundation

/// libcurl takes an interface or an address that doesn't exist for the name of a host, and a long path for a host that can't be
/// found.
extension NetworkSettings {
    /// Throws if the path of the Unix socket is too long, or if this machine doesn't have the interface or the address.
    func checkLocalNames() throws(InvalidSetting) {
        try unixSocket.map { path throws(InvalidSetting) in try Self.check(path: path) }
        try interface.map { name throws(InvalidSetting) in try Self.check(interface: name) }
        try localAddress.map { address throws(InvalidSetting) in try Self.check(address: address) }
    }

    private static func check(path: String) throws(InvalidSetting) {
        let limit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1
        guard path.utf8.count > limit else { return }
        throw InvalidSetting(
            "the path of the Unix socket has \(path.utf8.count) bytes, and the system takes at most \(limit): use a shorter "
                + "path than \"\(path)\", a symbolic link for example")
    }

    private static func check(interface name: String) throws(InvalidSetting) {
        guard if_nametoindex(name) == 0 else { return }
        var names: [String] = []
        if let list = if_nameindex() {
            var entry = list
            while let name = entry.pointee.if_name {
                names.append(String(cString: name))
                entry += 1
            }
            if_freenameindex(list)
        }
        throw InvalidSetting(
            "this machine has no network interface \"\(name)\": use one of \(names.joined(separator: ", "))")
    }

    private static func check(address: String) throws(InvalidSetting) {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address, nil, &hints, &found) == 0, let found else {
            throw InvalidSetting(
                "the local address \"\(address)\" is not an IP address: use one of this machine's addresses")
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(found.pointee.ai_family, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard bind(descriptor, found.pointee.ai_addr, found.pointee.ai_addrlen) != 0, errno == EADDRNOTAVAIL else {
            return
        }
        throw InvalidSetting("this machine does not have the local address \"\(address)\": use one of its addresses")
    }
}
