#if canImport(COpenSSL)
    import COpenSSL
    import Foundation

    /// Owns an object of OpenSSL, and frees it when released.
    final class OpenSSLObject {
        let raw: OpaquePointer
        private let free: (OpaquePointer?) -> Void

        /// - Parameter raw: The object; nil if memory ran out or the object could not be read.
        init?(_ raw: OpaquePointer?, free: @escaping (OpaquePointer?) -> Void) {
            guard let raw else {
                // OpenSSL would report a remaining error as the cause of the next failure.
                ERR_clear_error()
                return nil
            }
            self.raw = raw
            self.free = free
        }

        /// Creates an object from DER with one of OpenSSL's `d2i_…` functions.
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

    /// A memory buffer that OpenSSL reads from or writes to.
    final class MemoryBuffer {
        let raw: OpaquePointer

        init?() {
            guard let raw = BIO_new(BIO_s_mem()) else { return nil }
            self.raw = raw
        }

        /// Creates a buffer that contains a copy of the data.
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
        /// Returns OpenSSL's message for the last error on this thread, and clears the thread's errors.
        static func takeMessage() -> String {
            defer { ERR_clear_error() }
            let code = ERR_peek_last_error()
            return ERR_reason_error_string(code).map { String(cString: $0) } ?? "it could not be read"
        }
    }

    extension Data {
        /// Creates data from the output of one of OpenSSL's `i2d_…` functions.
        package init?(encoding write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) {
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = write(&bytes)
            guard count >= 0, let bytes else { return nil }
            defer { CRYPTO_free(bytes, nil, 0) }
            self.init(bytes: bytes, count: Int(count))
        }
    }
#endif
