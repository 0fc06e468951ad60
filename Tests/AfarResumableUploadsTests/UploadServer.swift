import AfarTransport
import Foundation

/// A server for tus 1.0 and for the Internet-Draft, which keeps uploads in files and can cut connections at exact bytes.
///
/// Each connection serves one request at a time on a thread of its own.
final class UploadServer: Sendable {
    /// A request's head.
    struct Request: Sendable {
        let method: String
        let path: String
        /// The fields, with names in lowercase.
        let fields: [String: String]

        subscript(_ name: String) -> String? { fields[name.lowercased()] }
    }

    /// What the server does instead of the protocol.
    enum Answer: Sendable {
        /// Sends bytes, and keeps or closes the connection.
        case send(String, closes: Bool)
        case close
    }

    struct Upload: Sendable {
        var length: Int64?
        var offset: Int64 = 0
        var isComplete = false
        var isPartial = false
        var metadata: String?
        let file: URL
    }

    struct State: Sendable {
        var uploads: [String: Upload] = [:]
        /// The numbers of body bytes, counted over all requests, after which a connection is closed.
        var cuts: [Int64] = []
        var receivedBytes: Int64 = 0
        var requests: [Request] = []
        /// Answers requests instead of the protocol, if it returns an answer. The number counts all requests from 1.
        var answer: (@Sendable (Request, Int) -> Answer?)?
        /// Whether the interop version of the draft is announced with a 104 response.
        var sends104 = true
        var maximumAppendSize: Int64?
        var expires: String?
        var sockets: Set<Int32> = []
        var isStopped = false
    }

    let port: UInt16
    let folder: URL
    let state: Locked<State>
    private let listener: Int32

    init(_ configure: (inout State) -> Void = { _ in }) throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "afar-uploads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var initial = State()
        configure(&initial)
        state = Locked(initial)
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        listener = socket(AF_INET, stream, 0)
        _ = fcntl(listener, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, pointer, &size) == 0
            }
        }
        guard isBound else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [self] in accept() }
    }

    func url(_ path: String = "/files") -> URL {
        URL(string: "http://127.0.0.1:\(port)\(path)") ?? URL(filePath: path)
    }

    func stop() {
        let sockets = state.withLock { state in
            state.isStopped = true
            return state.sockets
        }
        for socket in sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        shutdown(listener, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(at: folder)
    }

    /// The requests as methods and paths.
    var log: [String] { state.withLock { $0.requests.map { "\($0.method) \($0.path)" } } }

    var requests: [Request] { state.withLock { $0.requests } }

    /// The content of the only upload that isn't a part.
    var content: Data? {
        let uploads = state.withLock { $0.uploads.values.filter { !$0.isPartial } }
        return uploads.count == 1 ? try? Data(contentsOf: uploads[0].file) : nil
    }

    /// The file of the only upload that isn't a part.
    var file: URL? {
        let uploads = state.withLock { $0.uploads.values.filter { !$0.isPartial } }
        return uploads.count == 1 ? uploads[0].file : nil
    }

    private func accept() {
        while true {
            let socket = Foundation.accept(listener, nil, nil)
            guard socket >= 0 else {
                close(listener)
                return
            }
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            var on: Int32 = 1
            setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
            let isStopped = state.withLock { state in
                state.sockets.insert(socket)
                return state.isStopped
            }
            Thread.detachNewThread { [self] in
                if !isStopped {
                    var connection = Connection(socket: socket, server: self)
                    connection.serve()
                }
                state.withLock { _ = $0.sockets.remove(socket) }
                close(socket)
            }
        }
    }
}

/// One connection of the server.
private struct Connection {
    let socket: Int32
    let server: UploadServer
    private var buffer = Data()

    init(socket: Int32, server: UploadServer) {
        self.socket = socket
        self.server = server
    }

    /// Reads more bytes. Returns false at the end.
    private mutating func fill() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 256 << 10)
        let count = recv(socket, &bytes, bytes.count, 0)
        guard count > 0 else { return false }
        buffer.append(contentsOf: bytes[..<count])
        return true
    }

    private func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    private func respond(_ status: String, _ fields: [String: String] = [:], body: String = "", isHead: Bool = false) {
        var text = "HTTP/1.1 \(status)\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        if !status.hasPrefix("204") { text += "Content-Length: \(body.utf8.count)\r\n" }
        send(text + "\r\n" + (isHead ? "" : body))
    }

    mutating func serve() {
        while let request = readHead() {
            let (answer, number) = server.state.withLock { state in
                state.requests.append(request)
                return (state.answer, state.requests.count)
            }
            switch answer?(request, number) {
            case .send(let text, let closes):
                if !closes { guard discardBody(request) else { return } }
                send(text)
                if closes {
                    shutdown(socket, Int32(SHUT_WR))
                    while fill() { buffer.removeAll() }
                    return
                }
            case .close:
                return
            case nil:
                guard request["Upload-Draft-Interop-Version"] != nil ? serveDraft(request) : serveTus(request) else {
                    return
                }
            }
        }
    }

    private mutating func readHead() -> UploadServer.Request? {
        let end = Data("\r\n\r\n".utf8)
        while true {
            if let range = buffer.range(of: end) {
                let head = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                buffer = Data(buffer[range.upperBound...])
                var lines = head.components(separatedBy: "\r\n")[...]
                let words = (lines.popFirst() ?? "").split(separator: " ")
                guard words.count == 3 else { return nil }
                var fields: [String: String] = [:]
                for line in lines {
                    let parts = line.split(separator: ":", maxSplits: 1)
                    fields[parts[0].lowercased()] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
                }
                return UploadServer.Request(
                    method: fields["x-http-method-override"] ?? String(words[0]), path: String(words[1]), fields: fields
                )
            }
            guard fill() else { return nil }
        }
    }

    private mutating func discardBody(_ request: UploadServer.Request) -> Bool {
        var left = Int(request["Content-Length"] ?? "0") ?? 0
        while left > 0 {
            if buffer.isEmpty { guard fill() else { return false } }
            let count = min(left, buffer.count)
            buffer = Data(buffer.dropFirst(count))
            left -= count
        }
        return true
    }

    /// Appends the body to an upload. Returns false if the connection was lost or cut.
    private mutating func receiveBody(_ request: UploadServer.Request, to id: String) -> Bool {
        guard let upload = server.state.withLock({ $0.uploads[id] }) else { return false }
        let file = open(upload.file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(file) }
        var left = Int64(request["Content-Length"] ?? "0") ?? 0
        while left > 0 {
            if buffer.isEmpty { guard fill() else { return false } }
            let available = min(left, Int64(buffer.count))
            let (count, offset, isCut) = server.state.withLock { state in
                let cut = state.cuts.first.map { $0 - state.receivedBytes }
                let count = max(0, min(available, cut ?? .max))
                let offset = state.uploads[id]?.offset ?? 0
                state.receivedBytes += count
                if cut == count { state.cuts.removeFirst() }
                return (count, offset, cut == count)
            }
            let written = buffer.withUnsafeBytes { pwrite(file, $0.baseAddress, Int(count), off_t(offset)) }
            guard written == Int(count) else { return false }
            server.state.withLock { $0.uploads[id]?.offset += count }
            buffer = Data(buffer.dropFirst(Int(count)))
            left -= count
            if isCut { return false }
        }
        return true
    }

    // MARK: tus

    private mutating func serveTus(_ request: UploadServer.Request) -> Bool {
        let fields = ["Tus-Resumable": "1.0.0"]
        guard request["Tus-Resumable"] == "1.0.0" else {
            respond("412 Precondition Failed", ["Tus-Version": "1.0.0"])
            return true
        }
        if request.method == "POST" {
            createTus(request, fields)
            return true
        }
        guard let upload = server.state.withLock({ $0.uploads[request.path] }) else {
            guard discardBody(request) else { return false }
            respond("404 Not Found", isHead: request.method == "HEAD")
            return true
        }
        switch request.method {
        case "HEAD":
            var fields = fields
            fields["Upload-Offset"] = String(upload.offset)
            fields["Upload-Length"] = upload.length.map(String.init)
            fields["Cache-Control"] = "no-store"
            fields["Upload-Expires"] = server.state.withLock { $0.expires }
            respond("200 OK", fields, isHead: true)
        case "PATCH":
            guard request["Upload-Offset"] == String(upload.offset),
                request["Content-Type"] == "application/offset+octet-stream"
            else {
                guard discardBody(request) else { return false }
                respond("409 Conflict", fields)
                return true
            }
            guard receiveBody(request, to: request.path) else { return false }
            let offset = server.state.withLock { state in
                if let length = request["Upload-Length"] { state.uploads[request.path]?.length = Int64(length) }
                return state.uploads[request.path]?.offset ?? 0
            }
            respond("204 No Content", fields.merging(["Upload-Offset": String(offset)]) { $1 })
        case "DELETE":
            server.state.withLock { _ = $0.uploads.removeValue(forKey: request.path) }
            respond("204 No Content", fields)
        default:
            respond("405 Method Not Allowed", fields)
        }
        return true
    }

    private func makeUpload(_ configure: (inout UploadServer.Upload) -> Void) -> String {
        server.state.withLock { state in
            let id = "/files/\(state.uploads.count + 1)"
            var upload = UploadServer.Upload(file: server.folder.appending(path: UUID().uuidString))
            configure(&upload)
            _ = FileManager.default.createFile(atPath: upload.file.path, contents: nil)
            state.uploads[id] = upload
            return id
        }
    }

    private func createTus(_ request: UploadServer.Request, _ fields: [String: String]) {
        var content = Data()
        if let concat = request["Upload-Concat"], concat.hasPrefix("final;") {
            let ids = concat.dropFirst(6).split(separator: " ").map(String.init)
            let uploads = server.state.withLock { state in ids.compactMap { state.uploads[$0] } }
            guard uploads.count == ids.count, uploads.allSatisfy({ $0.isPartial && $0.offset == $0.length }) else {
                respond("400 Bad Request", fields)
                return
            }
            for upload in uploads { content += (try? Data(contentsOf: upload.file)) ?? Data() }
        }
        let id = makeUpload { upload in
            upload.isPartial = request["Upload-Concat"] == "partial"
            upload.length = request["Upload-Length"].flatMap { Int64($0) }
            upload.metadata = request["Upload-Metadata"]
        }
        if !content.isEmpty, let file = server.state.withLock({ $0.uploads[id]?.file }) { try? content.write(to: file) }
        var fields = fields
        fields["Location"] = id
        fields["Upload-Expires"] = server.state.withLock { $0.expires }
        respond("201 Created", fields)
    }

    // MARK: The draft

    private mutating func serveDraft(_ request: UploadServer.Request) -> Bool {
        let version = request["Upload-Draft-Interop-Version"] ?? ""
        let isOld = version == "3"
        func completeness(_ isComplete: Bool) -> [String: String] {
            isOld ? ["Upload-Incomplete": isComplete ? "?0" : "?1"] : ["Upload-Complete": isComplete ? "?1" : "?0"]
        }
        let completes = isOld ? request["Upload-Incomplete"] == "?0" : request["Upload-Complete"] == "?1"
        var id = request.path
        let limit =
            server.state.withLock { $0.maximumAppendSize }.map { ["Upload-Limit": "max-append-size=\($0)"] } ?? [:]
        if request.method == "POST" {
            id = makeUpload { $0.length = request["Upload-Length"].flatMap { Int64($0) } }
            if server.state.withLock({ $0.sends104 }) {
                send(
                    "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: \(version)\r\nLocation: \(id)\r\n\r\n"
                )
            }
        }
        guard let upload = server.state.withLock({ $0.uploads[id] }) else {
            guard discardBody(request) else { return false }
            respond("404 Not Found", isHead: request.method == "HEAD")
            return true
        }
        switch request.method {
        case "HEAD":
            let fields = completeness(upload.isComplete).merging(limit) { $1 }
            respond("204 No Content", fields.merging(["Upload-Offset": String(upload.offset)]) { $1 }, isHead: true)
        case "POST", "PATCH":
            let isPatch = request.method == "PATCH"
            let hasType = request["Content-Type"] == "application/partial-upload" || Int(version) ?? 0 < 6
            guard !isPatch || hasType && !upload.isComplete && request["Upload-Offset"] == String(upload.offset) else {
                guard discardBody(request) else { return false }
                respond(
                    "409 Conflict",
                    completeness(upload.isComplete).merging(["Upload-Offset": String(upload.offset)]) { $1 })
                return true
            }
            guard receiveBody(request, to: id) else { return false }
            guard completes else {
                respond(
                    "201 Created", completeness(false).merging(["Location": id]) { $1 }.merging(limit) { $1 })
                return true
            }
            server.state.withLock { $0.uploads[id]?.isComplete = true }
            respond("200 OK", completeness(true), body: "stored")
        case "DELETE":
            server.state.withLock { _ = $0.uploads.removeValue(forKey: id) }
            respond("204 No Content")
        default:
            respond("405 Method Not Allowed")
        }
        return true
    }
}
