import CNghttp2

/// An HTTP/2 server without I/O, on nghttp2.
final class Server {
    struct Request {
        var fields: [String] = []
        var trailers: [String] = []
        var body: [UInt8] = []
        var hasHead = false
    }

    struct Response {
        var fields: [(String, String)] = [(":status", "200")]
        var body: [UInt8] = []
        var trailers: [(String, String)] = []
        var informational: [[(String, String)]] = []
    }

    private(set) var requests: [Int32: Request] = [:]
    private(set) var completeIDs: [Int32] = []
    private(set) var resets: [Int32: UInt32] = [:]
    private(set) var goAwayCode: UInt32?
    var respond: (Int32, Request) -> Response? = { _, _ in Response() }
    private var bodies: [Int32: (rest: ArraySlice<UInt8>, trailers: [(String, String)])] = [:]
    private(set) var session: OpaquePointer?

    init(settings: [(nghttp2_settings_id, UInt32)] = []) {
        var callbacks: OpaquePointer?
        nghttp2_session_callbacks_new(&callbacks)
        defer { nghttp2_session_callbacks_del(callbacks) }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) {
            _, frame, name, nameCount, value, valueCount, _, context in
            guard let frame, let server = Server.of(context) else { return 0 }
            let name = String(decoding: UnsafeBufferPointer(start: name, count: nameCount), as: UTF8.self)
            let value = String(decoding: UnsafeBufferPointer(start: value, count: valueCount), as: UTF8.self)
            let id = frame.pointee.hd.stream_id
            if server.requests[id, default: Request()].hasHead {
                server.requests[id]?.trailers.append("\(name): \(value)")
            } else {
                server.requests[id]?.fields.append("\(name): \(value)")
                if server.requests[id] == nil { server.requests[id] = Request(fields: ["\(name): \(value)"]) }
            }
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, id, bytes, count, context in
            Server.of(context)?.requests[id]?.body += UnsafeBufferPointer(start: bytes, count: count)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            guard let frame, let server = Server.of(context) else { return 0 }
            server.didReceive(frame.pointee)
            return 0
        }
        nghttp2_session_server_new(&session, callbacks, Unmanaged.passUnretained(self).toOpaque())
        let entries = settings.map { nghttp2_settings_entry(settings_id: Int32($0.0.rawValue), value: $0.1) }
        nghttp2_submit_settings(session, 0, entries, entries.count)
    }

    deinit { nghttp2_session_del(session) }

    private static func of(_ context: UnsafeMutableRawPointer?) -> Server? {
        context.map { Unmanaged<Server>.fromOpaque($0).takeUnretainedValue() }
    }

    private func didReceive(_ frame: nghttp2_frame) {
        let id = frame.hd.stream_id
        switch UInt32(frame.hd.type) {
        case NGHTTP2_RST_STREAM.rawValue: resets[id] = frame.rst_stream.error_code
        case NGHTTP2_GOAWAY.rawValue: goAwayCode = frame.goaway.error_code
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_DATA.rawValue:
            requests[id]?.hasHead = true
            guard frame.hd.flags & 1 != 0 else { return }
            completeIDs.append(id)
            if let request = requests[id], let response = respond(id, request) { send(response, id) }
        default: break
        }
    }

    func send(_ response: Response, _ id: Int32) {
        for head in response.informational {
            Self.withFields(head) { _ = nghttp2_submit_headers(session, 0, id, nil, $0, $1, nil) }
        }
        bodies[id] = (response.body[...], response.trailers)
        let provider = nghttp2_data_provider(source: nghttp2_data_source()) {
            session, id, buffer, count, flags, _, context in
            guard let server = Server.of(context), let (rest, trailers) = server.bodies[id], let buffer, let flags
            else { return Int(NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) }
            let part = rest.prefix(count)
            UnsafeMutableRawBufferPointer(start: buffer, count: count).copyBytes(from: part)
            server.bodies[id]?.rest = rest.dropFirst(part.count)
            if part.count == rest.count {
                flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
                if !trailers.isEmpty {
                    flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                    Server.withFields(trailers) { _ = nghttp2_submit_trailer(session, id, $0, $1) }
                }
            }
            return part.count
        }
        let hasBody = !response.body.isEmpty || !response.trailers.isEmpty
        Self.withFields(response.fields) { fields, count in
            withUnsafePointer(to: provider) { provider in
                _ = nghttp2_submit_response(session, id, fields, count, hasBody ? provider : nil)
            }
        }
    }

    private static func withFields(_ fields: [(String, String)], _ body: (UnsafePointer<nghttp2_nv>?, Int) -> Void) {
        var bytes = fields.flatMap { Array($0.0.utf8) + Array($0.1.utf8) }
        bytes.withUnsafeMutableBufferPointer { buffer in
            var offset = 0
            let lines = fields.map { name, value in
                defer { offset += name.utf8.count + value.utf8.count }
                return nghttp2_nv(
                    name: buffer.baseAddress.map { $0 + offset },
                    value: buffer.baseAddress.map { $0 + offset + name.utf8.count },
                    namelen: name.utf8.count, valuelen: value.utf8.count, flags: 0)
            }
            lines.withUnsafeBufferPointer { body($0.baseAddress, $0.count) }
        }
    }

    func receive(_ bytes: [UInt8]) -> Int { nghttp2_session_mem_recv(session, bytes, bytes.count) }

    func output() -> [UInt8] {
        var bytes: [UInt8] = []
        var data: UnsafePointer<UInt8>?
        while true {
            let count = nghttp2_session_mem_send(session, &data)
            guard count > 0 else { return bytes }
            bytes += UnsafeBufferPointer(start: data, count: count)
        }
    }
}
