import AfarTrust
import Foundation

/// An object's checksum, which is sent in a trailer after the object's data.
public enum AWSChecksum: String, Sendable, Hashable, CaseIterable {
    /// CRC-32, as in gzip.
    case crc32 = "x-amz-checksum-crc32"
    /// CRC-32C (Castagnoli).
    case crc32c = "x-amz-checksum-crc32c"
    /// SHA-256.
    case sha256 = "x-amz-checksum-sha256"
}

/// Computes a checksum of bytes that arrive in pieces. Used by one thread at a time.
final class ChecksumState {
    private var crc: UInt32 = 0xFFFF_FFFF
    private let table: [UInt32]
    private let digest: RunningHash?

    init(_ checksum: AWSChecksum) {
        switch checksum {
        case .crc32: (table, digest) = (Self.crc32, nil)
        case .crc32c: (table, digest) = (Self.crc32c, nil)
        case .sha256: (table, digest) = ([], RunningHash(.sha256))
        }
    }

    func update(_ bytes: Data) {
        digest?.update(bytes)
        guard !table.isEmpty else { return }
        crc = bytes.reduce(crc) { table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }

    /// The checksum in Base64; nil if it can't be computed.
    var value: String? {
        guard table.isEmpty else {
            return withUnsafeBytes(of: (~crc).bigEndian) { Data($0) }.base64EncodedString()
        }
        return digest?.finalize()?.base64EncodedString()
    }

    private static let crc32 = makeTable(0xEDB8_8320)
    private static let crc32c = makeTable(0x82F6_3B78)

    private static func makeTable(_ polynomial: UInt32) -> [UInt32] {
        (0..<256).map { index in
            (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? polynomial ^ (value >> 1) : value >> 1 }
        }
    }
}
