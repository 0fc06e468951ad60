import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// What a handle is told before the transfer begins.
extension Transfer {
    func configure(_ handle: EasyHandle, pool: CurlPool) throws {
        let options = CurlOptions(easy: handle.raw)
        handle.transfer = self
        let body = try sendableBody()
        try options.set(CURLOPT_PRIVATE, pointer: handle.context)
        try options.set(CURLOPT_ERRORBUFFER, pointer: UnsafeMutableRawPointer(handle.errorText))
        try options.setRules()
        try options.set(CURLOPT_URL, plan.url)
        try options.check(afar_set_header_list(handle.raw, plan.headers.first), CURLOPT_HTTPHEADER)
        try options.set(CURLOPT_HTTP_VERSION, plan.version.option)
        if plan.version.isShared { try options.set(CURLOPT_PIPEWAIT, 1) }
        try pool.setShared(options)
        if hasStartedOver { try options.set(CURLOPT_FRESH_CONNECT, 1) }
        if plan.version == .http2Alone {
            try options.set(CURLOPT_FRESH_CONNECT, 1)
            try options.set(CURLOPT_FORBID_REUSE, 1)
        }
        if plan.isSecure { try pool.setSecurity(handle, exchange.options.minimumTLSVersion) }
        if let route = plan.route { try pool.setRoute(route, options) }
        try plan.routeLists?.apply(to: options)
        // libcurl gives each address its share of this time. That it is up must be seen here first, or a look-up would go
        // on unknown to the limiter.
        try options.set(
            CURLOPT_CONNECTTIMEOUT_MS,
            Int(clamping: Int64(max(0.001, exchange.options.connectTimeout.clamped) * 1000)) + 1_000)
        try options.setMethod(plan.method, hasBody: !body.isNone)
        try Self.setCallbacks(options, of: handle)
        if case .collect = exchange.delivery {} else { try options.set(CURLOPT_BUFFERSIZE, bufferSize) }
        if let feed {
            try Self.setBodyCallbacks(options, of: handle)
            try options.set(CURLOPT_UPLOAD_BUFFERSIZE, Self.largeBuffer)
            try options.setBodyLength(feed.length)
        } else if case .data(let data) = body {
            try options.setBody(data)
        }
        if let authentication { try options.setAuthentication(authentication) }
    }

    private static let largeBuffer = 512 * 1024
    /// For bodies of which some may be refused: libcurl keeps and copies that until it is taken.
    private static let smallBuffer = 56 * 1024

    /// How much libcurl reads at once of a body that is not collected.
    var bufferSize: Int { sink.mayRefuse ? Self.smallBuffer : Self.largeBuffer }

    /// The body to send; one that libcurl is not to copy at once is opened here and becomes the feed.
    private func sendableBody() throws -> RequestBody {
        // A HEAD request has passed the plan's checks, so its body is empty if there is one.
        guard plan.method != .head else { return .none }
        guard feed == nil else { return exchange.body }
        switch exchange.body {
        case .none: break
        case .data(let data): if data.count > 64 * 1024 { feed = BodyFeed(data: data) }
        case .file(let url): feed = try BodyFeed(file: url)
        case .stream(let stream):
            let pump = BodyPump(onReady: { [loop] in loop.post(.bodyReady(self)) })
            feed = BodyFeed(pump: pump, length: stream.length)
            startPump = { pump.start(stream) }
        }
        return exchange.body
    }
}

extension TimeInterval {
    /// Within what milliseconds in a C long of 32 bits can hold. NaN stands for no limit, as elsewhere.
    fileprivate var clamped: TimeInterval { self < 2_000_000 ? self : 2_000_000 }
}
