import Foundation

/// The sockets that a pool has open, and which of libcurl's connections each of them is. libcurl names a connection by
/// its addresses only.
struct OpenSockets {
    /// A connection's addresses in one number.
    struct Name: Hashable {
        private let hash: UInt64

        init(remoteAddress: UnsafePointer<CChar>?, remotePort: Int32, localPort: Int32) {
            // FNV-1a; two connections of one local port differ in what follows.
            var hash: UInt64 = 0xcbf2_9ce4_8422_2325
            func add(_ value: UInt64) { hash = (hash ^ value) &* 0x0000_0100_0000_01b3 }
            var next = remoteAddress
            while let character = next, character.pointee != 0 {
                add(UInt64(UInt8(bitPattern: character.pointee)))
                next = character + 1
            }
            add(UInt64(UInt32(bitPattern: remotePort)))
            add(UInt64(UInt32(bitPattern: localPort)))
            self.hash = hash
        }
    }

    private(set) var all: Set<Int32> = []
    private var nameless: Set<Int32> = []
    private var named: [Name: Int32] = [:]
    private var names: [Int32: Name] = [:]

    mutating func open(_ socket: Int32) {
        all.insert(socket)
        nameless.insert(socket)
    }

    mutating func close(_ socket: Int32) {
        all.remove(socket)
        nameless.remove(socket)
        guard let name = names.removeValue(forKey: socket), named[name] == socket else { return }
        named[name] = nil
    }

    /// The socket of a connection, nil when there is none that fits.
    mutating func find(_ name: Name, localPort: Int32) -> Int32? {
        if let socket = named[name] { return socket }
        guard let socket = nameless.first(where: { Self.localPort(of: $0) == localPort }) else { return nil }
        nameless.remove(socket)
        named[name] = socket
        names[socket] = name
        return socket
    }

    private static func localPort(of socket: Int32) -> Int32? {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &address) { pointer -> Int32? in
            let raw = UnsafeMutableRawPointer(pointer)
            guard getsockname(socket, raw.assumingMemoryBound(to: sockaddr.self), &length) == 0 else { return nil }
            // The port stands at the same place in the addresses of IPv4 and IPv6.
            return Int32(UInt16(bigEndian: raw.load(fromByteOffset: 2, as: UInt16.self)))
        }
    }
}
