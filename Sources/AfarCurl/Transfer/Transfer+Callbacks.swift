import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// libcurl's callbacks. They capture nothing. libcurl passes the handle as the context, and the handle has a reference to its
/// transfer.
extension Transfer {
    private static let failed = Int.max

    private static func from(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        context.flatMap { EasyHandle.from($0).transfer }
    }

    static func setCallbacks(_ options: CurlOptions, of handle: EasyHandle) throws(Fault) {
        let context = handle.context
        try options.check(
            afar_set_header_function(
                options.easy,
                { bytes, size, count, context in
                    let lines = UnsafeRawBufferPointer(start: bytes, count: size * count)
                    return Transfer.take(lines, context) { (transfer) throws(Fault) in
                        try transfer.receive(lines: lines)
                        return lines.count
                    }
                }, context), CURLOPT_HEADERFUNCTION)
        try options.check(
            afar_set_write_function(
                options.easy,
                { bytes, size, count, context in
                    let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
                    return Transfer.take(body, context) { (transfer) throws(Fault) in
                        try transfer.receive(body: body) ? body.count : Int(CURL_WRITEFUNC_PAUSE)
                    }
                }, context), CURLOPT_WRITEFUNCTION)
        try options.check(
            afar_set_prereq_function(
                options.easy,
                { context, remoteAddress, _, remotePort, localPort in
                    guard let transfer = Transfer.from(context) else { return CURL_PREREQFUNC_ABORT }
                    let socket = transfer.attempt.pool?.socket(
                        remoteAddress: remoteAddress, remotePort: remotePort, localPort: localPort,
                        likely: transfer.attempt.openedSocket)
                    return transfer.canUseConnection(on: socket) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
                }, context), CURLOPT_PREREQFUNCTION)
        try options.check(
            afar_set_open_socket_function(
                options.easy,
                { context, _, address in
                    guard let transfer = Transfer.from(context), let address else { return -1 }
                    return transfer.openSocket(to: address)
                }, context), CURLOPT_OPENSOCKETFUNCTION)
        try options.check(
            afar_set_resolver_start_function(
                options.easy,
                { _, _, context in
                    guard let transfer = Transfer.from(context) else { return 1 }
                    return transfer.loop.canLookUp(transfer) ? 0 : 1
                }, context), CURLOPT_RESOLVER_START_FUNCTION)
    }

    /// Passes bytes to the transfer. If reporting an error would disturb other streams of the connection, this method accepts
    /// the bytes, and the loop cancels the transfer.
    private static func take(
        _ bytes: UnsafeRawBufferPointer, _ context: UnsafeMutableRawPointer?,
        _ receive: (Transfer) throws(Fault) -> Int
    ) -> Int {
        guard let handle = context.map({ EasyHandle.from($0) }) else { return failed }
        guard let transfer = handle.transfer else { return handle.discards(bytes.count) ? bytes.count : failed }
        guard transfer.state.fault == nil || !transfer.mustBeReadToItsEnd else { return bytes.count }
        if let count = transfer.recordingFault({ () throws(Fault) in try receive(transfer) }) { return count }
        guard transfer.mustBeReadToItsEnd else { return failed }
        transfer.post(.cancel)
        return bytes.count
    }

    /// Sets the callback for the heads that libcurl sends, including those to a proxy.
    static func setHeadCallback(_ options: CurlOptions, of handle: EasyHandle) throws(Fault) {
        try options.check(
            afar_set_debug_function(
                options.easy,
                { _, kind, bytes, count, context in
                    guard kind == CURLINFO_HEADER_OUT, let bytes, let transfer = Transfer.from(context),
                        let report = transfer.exchange.context[SentHeadReceiver.self],
                        let head = SentHead(lines: UnsafeRawBufferPointer(start: bytes, count: count)),
                        head.method == transfer.exchange.request.method.rawValue
                    else { return 0 }
                    report(head)
                    return 0
                }, handle.context), CURLOPT_DEBUGFUNCTION)
    }

    static func setBodyCallbacks(_ options: CurlOptions, of handle: EasyHandle) throws(Fault) {
        let context = handle.context
        try options.check(
            afar_set_read_function(
                options.easy,
                { bytes, size, count, context in
                    guard let transfer = Transfer.from(context) else { return Int(CURL_READFUNC_ABORT) }
                    let buffer = UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
                    return transfer.recordingFault { () throws(Fault) in
                        try transfer.send(into: buffer) ?? Int(CURL_READFUNC_PAUSE)
                    } ?? Int(CURL_READFUNC_ABORT)
                }, context), CURLOPT_READFUNCTION)
        try options.check(
            afar_set_seek_function(
                options.easy,
                { context, offset, origin in
                    guard origin == SEEK_SET, let feed = Transfer.from(context)?.feed else {
                        return CURL_SEEKFUNC_CANTSEEK
                    }
                    return feed.seek(to: Int64(offset)) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_CANTSEEK
                }, context), CURLOPT_SEEKFUNCTION)
    }
}
