package import Foundation

/// An address to which a socket can be connected: an IP address and a port, or the path of a Unix socket.
public struct SocketAddress: Sendable {
    private var storage: sockaddr_storage
    private let length: socklen_t

    /// Creates an address from its numeric form. Returns nil for a name.
    ///
    /// The system's resolver reads the address. It also accepts unusual forms of IPv4 addresses, such as `127.1`, `0x7f.0.0.1` and
    /// `2130706433`, and a zone after an IPv6 address, such as `fe80::1%eth0`. A zone must be the name of a network interface of this
    /// machine.
    ///
    /// - Parameters:
    ///   - address: The IP address, without brackets.
    ///   - port: The port. Only its lowest 16 bits are used. The default is 0.
    public init?(_ address: String, port: Int = 0) {
        // getaddrinfo stops at a zero byte.
        guard !address.utf8.contains(0), let found = try? Self.lookUp(address, isAddress: true).first else {
            return nil
        }
        self = found.with(port: port)
    }

    /// Creates an address from its bytes in network order. Returns nil unless there are 4 bytes (IPv4) or 16 bytes (IPv6).
    ///
    /// - Parameters:
    ///   - bytes: The bytes of the IP address.
    ///   - port: The port. Only its lowest 16 bits are used. The default is 0.
    public init?(bytes: some Collection<UInt8>, port: Int = 0) {
        var storage = sockaddr_storage()
        let (family, offset) = bytes.count == 4 ? (AF_INET, 4) : (AF_INET6, 8)
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        storage.ss_family = sa_family_t(family)
        withUnsafeMutableBytes(of: &storage) { storage in
            for (index, byte) in bytes.enumerated() { storage[offset + index] = byte }
            storage.storeBytes(of: UInt16(truncatingIfNeeded: port).bigEndian, toByteOffset: 2, as: UInt16.self)
        }
        let size = family == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
        #if canImport(Darwin)
            storage.ss_len = UInt8(size)
        #endif
        (self.storage, length) = (storage, socklen_t(size))
    }

    /// Copies an address. Returns nil if it is too long.
    package init?(copying address: UnsafeRawPointer?, length: socklen_t) {
        guard let address, Int(length) <= MemoryLayout<sockaddr_storage>.size else { return nil }
        var storage = sockaddr_storage()
        memcpy(&storage, address, Int(length))
        (self.storage, self.length) = (storage, length)
    }

    /// Creates the local address of a socket; nil if it has none.
    package init?(localOf socket: Int32) { self.init(socket, getsockname) }

    /// Creates the address to which a socket is connected; nil if it isn't connected.
    package init?(peerOf socket: Int32) { self.init(socket, getpeername) }

    private init?(
        _ socket: Int32, _ read: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let code = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { read(socket, $0, &length) }
        }
        guard code == 0, length <= MemoryLayout<sockaddr_storage>.size else { return nil }
        (self.storage, self.length) = (storage, length)
    }

    package var family: Int32 { Int32(storage.ss_family) }

    /// Returns the address with a port, if its family has ports.
    package func with(port: Int) -> SocketAddress {
        var copy = self
        guard family != AF_UNIX else { return copy }
        // The port is at the same offset in IPv4 and IPv6 addresses.
        withUnsafeMutableBytes(of: &copy.storage) {
            $0.storeBytes(of: UInt16(truncatingIfNeeded: port).bigEndian, toByteOffset: 2, as: UInt16.self)
        }
        return copy
    }

    /// Calls a system function with the address.
    package func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        withUnsafePointer(to: storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// Creates the address of a Unix socket; nil if the path is too long.
    package init?(unixSocket path: String) {
        var address = sockaddr_un()
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        self.init(copying: &address, length: socklen_t(MemoryLayout<sockaddr_un>.size))
    }

    /// The 4 bytes of an IPv4 address or the 16 bytes of an IPv6 address, in network order; nil for a Unix socket.
    public var bytes: [UInt8]? {
        withUnsafeBytes(of: storage) { storage in
            switch family {
            case AF_INET: Array(storage[4..<8])
            case AF_INET6: Array(storage[8..<24])
            default: nil
            }
        }
    }

    /// The IP address and port in numeric form; nil for other families.
    package var numbers: (address: String, port: Int)? {
        guard family == AF_INET || family == AF_INET6 else { return nil }
        var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let code = withPointer { address, length in
            getnameinfo(address, length, &host, socklen_t(host.count), nil, 0, NI_NUMERICHOST)
        }
        guard code == 0 else { return nil }
        let text = host.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        return text.map { ($0, port) }
    }

    /// The port; 0 for a Unix socket.
    public var port: Int {
        guard family != AF_UNIX else { return 0 }
        // The port is at the same offset in IPv4 and IPv6 addresses.
        return withUnsafeBytes(of: storage) { Int(UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self))) }
    }
}

extension SocketAddress: Hashable, CustomStringConvertible {
    /// Returns whether two addresses have the same bytes, including the port and the zone.
    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.withBytes { left in rhs.withBytes { left.elementsEqual($0) } }
    }

    /// Hashes the bytes of the address.
    public func hash(into hasher: inout Hasher) { withBytes { hasher.combine(bytes: $0) } }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: storage) { body(UnsafeRawBufferPointer(rebasing: $0.prefix(Int(length)))) }
    }

    /// The address and port, such as `192.0.2.7:443` or `[2001:db8::1]:443`, or the path of the Unix socket.
    public var description: String {
        if let numbers { return HostName.authority(numbers.address, port: numbers.port) }
        // The path follows the two bytes of the family.
        return withBytes { String(decoding: $0.dropFirst(2).prefix { $0 != 0 }, as: UTF8.self) }
    }
}

extension SocketAddress {
    /// Looks up the addresses of a name. This call can block if the name isn't an address.
    ///
    /// - Throws: A ``Fault`` with the code ``TransportError/Code-swift.struct/cannotFindHost``.
    package static func lookUp(_ name: String, isAddress: Bool = false) throws(Fault) -> [SocketAddress] {
        let (code, addresses) = find(name, isAddress: isAddress)
        guard code == 0 else { throw fault(code) }
        return addresses
    }

    /// Looks up the addresses of a name. The result is empty if the host doesn't exist or has no address. This call can block.
    ///
    /// - Throws: A ``Fault`` with the code ``TransportError/Code-swift.struct/cannotFindHost``.
    static func lookUpIfExisting(_ name: String) throws(Fault) -> [SocketAddress] {
        // getaddrinfo stops at a zero byte.
        guard !name.utf8.contains(0) else { return [] }
        let (code, addresses) = find(name)
        guard code == 0 || code == EAI_NONAME || code == noAddressCode else { throw fault(code) }
        return addresses
    }

    #if canImport(Darwin)
        private static let noAddressCode = EAI_NODATA
    #else
        /// glibc's `EAI_NODATA`, which Swift doesn't import.
        private static let noAddressCode: Int32 = -5
    #endif

    private static func fault(_ code: Int32) -> Fault {
        Fault(
            code == EAI_MEMORY ? .outOfResources : .cannotFindHost,
            "the system's resolver could not look up the host: \(String(cString: gai_strerror(code)))",
            systemError: code == EAI_SYSTEM ? errno : nil)
    }

    private static func find(_ name: String, isAddress: Bool = false) -> (code: Int32, addresses: [SocketAddress]) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = isAddress ? AI_NUMERICHOST : AI_ADDRCONFIG
        var first: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(name, nil, &hints, &first)
        defer { if let first { freeaddrinfo(first) } }
        guard code == 0 else { return (code, []) }
        var addresses: [SocketAddress] = []
        var next = first
        while let entry = next {
            if let address = SocketAddress(copying: entry.pointee.ai_addr, length: entry.pointee.ai_addrlen) {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        return (code, addresses)
    }

    package static func isAddress(_ name: String) -> Bool { (try? lookUp(name, isAddress: true)) != nil }

    /// Returns the addresses of a name that needs no lookup: an address, or a name for this machine (RFC 6761, section 6.3).
    /// Returns nil for other names.
    package static func addressesWithoutLookup(of name: String) -> [SocketAddress]? {
        let bare = name.hasSuffix(".") ? String(name.dropLast()) : name
        if bare == "localhost" || bare.hasSuffix(".localhost") {
            return ["::1", "127.0.0.1"].flatMap { (try? lookUp($0, isAddress: true)) ?? [] }
        }
        return try? lookUp(name, isAddress: true)
    }
}
