import AfarTransport
import CLibcurl
import HTTPTypes

extension Transfer {
    /// Fails the transfer of a body that grows too much while it is decoded.
    func checkDecompression(to byteCount: Int64) throws(Fault) {
        guard let limit = exchange.options.decompressionLimit, byteCount > limit.size, isDecoded, let handle else {
            return
        }
        // libcurl counts what came in chunks only when all of what it has read has been decoded.
        let uncounted = reader.contentLength == nil ? bufferSize : 0
        let received = handle.offset(CURLINFO_SIZE_DOWNLOAD_T) + Int64(uncounted)
        guard limit.isExceeded(by: byteCount, from: received) else { return }
        throw Fault(.responseTooLarge, limit.message)
    }

    /// Whether libcurl can keep what one buffer is decoded to while the transfer stands still. It allows itself 64 MB for
    /// that, of which brotli and Zstandard fill more than deflate can, and fails a transfer that needs more.
    var keepsWhatIsDecoded: Bool {
        switch reader.head?.value(for: .contentEncoding)?.lowercased() {
        case "gzip", "x-gzip", "deflate": true
        default: false
        }
    }
}
