import AfarTransport
import CLibcurl
import Foundation
import HTTPTypes

/// What a handle is told before the transfer begins.
extension Transfer {
    func configure(_ handle: EasyHandle, pool: CurlPool) throws {
        let options = CurlOptions(easy: handle.raw)
        handle.transfer = self
        handle.clearError()
        let body: RequestBody
        do { body = try sendableBody() } catch {
            // What the handle tells of the transfer before is not to be taken for this one's.
            handle.reset()
            throw error
        }
        let setup = EasyHandle.Setup(
            method: plan.method, hasBody: !body.isNone, isSecure: plan.isSecure,
            minimumTLSVersion: exchange.options.minimumTLSVersion,
            connectTimeout: exchange.options.connectTimeout, version: plan.version, route: plan.route)
        if handle.setup != setup || feed != nil || authentication != nil {
            handle.reset()
            try setUp(handle, setup, options, pool: pool)
            if feed == nil, authentication == nil { handle.setup = setup }
        }
        try plan.routeLists?.apply(to: options)
        try handle.setURL(plan.url)
        try options.check(afar_set_header_list(handle.raw, plan.headers.first), CURLOPT_HTTPHEADER)
        if let feed {
            try options.setBodyLength(feed.length)
        } else if case .data(let data) = body {
            try options.setBody(data)
        }
    }

    private func setUp(
        _ handle: EasyHandle, _ setup: EasyHandle.Setup, _ options: CurlOptions, pool: CurlPool
    ) throws {
        try options.set(CURLOPT_PRIVATE, pointer: handle.context)
        try options.set(CURLOPT_CURLU, pointer: UnsafeMutableRawPointer(handle.url))
        try options.set(CURLOPT_ERRORBUFFER, pointer: UnsafeMutableRawPointer(handle.errorText))
        try options.setRules()
        try options.set(CURLOPT_HTTP_VERSION, setup.version.option)
        if setup.version.isShared { try options.set(CURLOPT_PIPEWAIT, 1) }
        try pool.setShared(options)
        if setup.version == .http2Alone {
            try options.set(CURLOPT_FRESH_CONNECT, 1)
            try options.set(CURLOPT_FORBID_REUSE, 1)
        }
        if setup.isSecure { try pool.setSecurity(handle, setup.minimumTLSVersion) }
        if let route = setup.route { try pool.setRoute(route, options) }
        // libcurl gives each address its share of this time. That it is up must be seen here first, or a look-up would go
        // on unknown to the limiter.
        try options.set(
            CURLOPT_CONNECTTIMEOUT_MS, Int(clamping: Int64(max(0.001, setup.connectTimeout.clamped) * 1000)) + 1_000)
        try options.setMethod(setup.method, hasBody: setup.hasBody)
        try Self.setCallbacks(options, of: handle)
        if feed != nil { try Self.setBodyCallbacks(options, of: handle) }
        if !handle.isReusable {
            try options.set(CURLOPT_BUFFERSIZE, bufferSize)
        }
        if feed != nil { try options.set(CURLOPT_UPLOAD_BUFFERSIZE, Self.largeBuffer) }
        if let authentication { try options.setAuthentication(authentication) }
        if plan.adoption != nil {
            try options.set(CURLOPT_CONNECT_ONLY, 1)
            try options.set(CURLOPT_FRESH_CONNECT, 1)
            // Else it is closed as soon as it is there.
            try options.set(CURLOPT_FORBID_REUSE, 0)
            try options.set(CURLOPT_HTTPPROXYTUNNEL, 1)
        }
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
