#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    /// Owns one of OpenSSL's objects.
    final class OpenSSLObject {
        let raw: OpaquePointer
        private let free: (OpaquePointer?) -> Void

        /// - Parameter raw: The object; nil when memory ran out, or nothing could be read.
        init?(_ raw: OpaquePointer?, free: @escaping (OpaquePointer?) -> Void) {
            guard let raw else {
                // What is left there would be taken for the cause of a later failure.
                ERR_clear_error()
                return nil
            }
            self.raw = raw
            self.free = free
        }

        /// What one of OpenSSL's `d2i_…` functions reads.
        convenience init?(
            decoding der: Data,
            _ read: (
                UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
            ) -> OpaquePointer?,
            free: @escaping (OpaquePointer?) -> Void
        ) {
            let raw = der.withUnsafeBytes { bytes in
                var next = bytes.bindMemory(to: UInt8.self).baseAddress
                return read(nil, &next, bytes.count)
            }
            self.init(raw, free: free)
        }

        deinit { free(raw) }
    }

    /// Bytes in memory that OpenSSL reads or writes.
    final class MemoryBuffer {
        let raw: OpaquePointer

        /// To write to.
        init?() {
            guard let raw = BIO_new(BIO_s_mem()) else { return nil }
            self.raw = raw
        }

        /// To read a copy of these bytes.
        convenience init?(_ data: Data) {
            self.init()
            let count = data.withUnsafeBytes { BIO_write(raw, $0.baseAddress, Int32(clamping: $0.count)) }
            guard count == data.count else { return nil }
        }

        deinit { BIO_free(raw) }

        var contents: Data {
            var bytes: UnsafePointer<CChar>?
            let count = afar_bio_contents(raw, &bytes)
            return bytes.map { Data(bytes: $0, count: count) } ?? Data()
        }

        var text: String { String(decoding: contents, as: UTF8.self) }
    }

    enum OpenSSLError {
        /// What went wrong last on this thread, in OpenSSL's words.
        static func takeMessage() -> String {
            defer { ERR_clear_error() }
            let code = ERR_peek_last_error()
            return ERR_reason_error_string(code).map { String(cString: $0) } ?? "it could not be read"
        }
    }

    extension Data {
        /// What one of OpenSSL's `i2d_…` functions writes.
        package init?(encoding write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) {
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = write(&bytes)
            guard count >= 0, let bytes else { return nil }
            defer { CRYPTO_free(bytes, nil, 0) }
            self.init(bytes: bytes, count: Int(count))
        }
    }
#endif
