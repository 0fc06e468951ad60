import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload
import Synchronization

/// A server on 127.0.0.1 that accepts resumable uploads. It closes connections after certain numbers of received bytes.
package final class UploadPeer: Sendable {
    /// What the server has received.
    final class Record: Sendable {
        struct State {
            var cuts: [Int]
            var receivedBytes = 0
            var connectionCount = 0
            /// The bodies of complete uploads.
            var uploads: [[UInt8]] = []
            var context: HTTPResumableUploadContext?
        }

        let state: Mutex<State>

        init(cuts: [Int]) { state = Mutex(State(cuts: cuts)) }

        func context(port: Int) -> HTTPResumableUploadContext {
            state.withLock { state in
                let context = state.context ?? HTTPResumableUploadContext(origin: "http://127.0.0.1:\(port)")
                state.context = context
                return context
            }
        }
    }

    package let port: Int
    private let channel: any Channel
    private let record: Record

    /// Starts a server and returns when it accepts connections.
    ///
    /// - Parameter cuts: The numbers of bytes, counted over all connections, after which the connection is closed.
    package init(cuts: [Int]) async throws {
        let record = Record(cuts: cuts)
        channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    record.state.withLock { $0.connectionCount += 1 }
                    let context = record.context(port: channel.localAddress?.port ?? 0)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(ConnectionCutter(record: record))
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                    try pipeline.addHandler(
                        HTTPResumableUploadHandler(context: context) { channel in
                            try? channel.pipeline.syncOperations.addHandler(UploadCollector(record: record))
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.record = record
        port = channel.localAddress?.port ?? 0
    }

    package func stop() async throws { try await channel.close() }

    /// The bodies of the complete uploads.
    package var uploads: [[UInt8]] { record.state.withLock { $0.uploads } }

    /// The number of accepted connections.
    package var connectionCount: Int { record.state.withLock { $0.connectionCount } }
}

/// Closes the connection after a number of bytes.
private final class ConnectionCutter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let record: UploadPeer.Record

    init(record: UploadPeer.Record) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        let (count, isCut) = record.state.withLock { state in
            let rest = state.cuts.first.map { max(0, $0 - state.receivedBytes) }
            let count = min(buffer.readableBytes, rest ?? .max)
            state.receivedBytes += count
            if rest == count { state.cuts.removeFirst() }
            return (count, rest == count)
        }
        if let slice = buffer.readSlice(length: count), count > 0 { context.fireChannelRead(wrapInboundOut(slice)) }
        if isCut { context.close(promise: nil) }
    }
}

/// Collects the body of an upload and responds with its length.
private final class UploadCollector: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    private let record: UploadPeer.Record
    private var body: [UInt8] = []

    init(record: UploadPeer.Record) { self.record = record }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head: body = []
        case .body(let buffer): body += buffer.readableBytesView
        case .end:
            record.state.withLock { $0.uploads.append(body) }
            let text = "stored \(body.count)"
            let response = HTTPResponse(status: .ok, headerFields: [.contentLength: String(text.utf8.count)])
            context.write(wrapOutboundOut(.head(response)), promise: nil)
            context.write(wrapOutboundOut(.body(ByteBuffer(string: text))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
