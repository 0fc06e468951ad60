#if HTTP2
    import AfarHTTP1
    import AfarHTTP2
    import AfarTransport
    import Foundation

    /// Sends the request, and receives the response, as a stream of an HTTP/2 connection.
    extension HTTPExchange {
        /// How often a request is sent again after the server has reported it as unprocessed (RFC 9113, section 8.7).
        private static let longestSeriesOfRefusals = 20

        /// Opens the stream. Returns its identifier.
        func submit(to session: HTTP2Session, _ stream: HTTP2Stream) throws(Fault) -> Int32 {
            if let fault = state.fault { throw fault }
            let exchange = acceptedExchange
            let feed = try makeFeed()
            let length = feed.map(\.length) ?? 0
            let framing: RequestHead.BodyFraming =
                feed == nil ? .none : length.map { .length($0) } ?? .chunked
            let id = try session.submit(
                exchange.request, defaultFields: exchange.defaultHeadFields.fields, body: framing,
                url: responseURL, handler: stream, report: exchange.context[SentHeadReceiver.self])
            didSubmit()
            // The request of a tunnel is complete without a body.
            if feed == nil || length == 0 || isTunnel { didSendAll() }
            return id
        }

        /// Reads the next part of the request's body.
        func readBody(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> HTTP2BodyPart {
            // The body of a tunnel waits for the response. The idle timeout runs during this wait.
            guard state.fault == nil, !state.isSuspended, !state.needsNoMoreBody, !mustAwaitContinue(),
                !isTunnel || sending.responseHead != nil, let feed = try makeFeed()
            else { return .wait }
            guard case .bytes(let count) = try feed.read(into: buffer) else {
                waitForBody()
                return .wait
            }
            let isLast = count == 0 || feed.byteCount == feed.length
            state.noteActivity(of: count, at: engine.loop.now)
            observer?.exchangeDidSend(bytes: feed.byteCount, expected: feed.length)
            if isLast { didSendAll() }
            guard count == 0 else { return .bytes(count, isLast: isLast) }
            return .trailers(try feed.checkedTrailers())
        }

        /// Returns whether the body waits for `100 (Continue)`. The first call starts the time limit.
        private func mustAwaitContinue() -> Bool {
            guard sendsExpectation, sending.responseHead == nil, !sending.hasReceivedContinue else { return false }
            guard !sending.hasAwaitedContinue else { return sending.expectationDeadline != .max }
            sending.hasAwaitedContinue = true
            awaitContinue()
            return true
        }

        func noteResponseStart() {
            if sending.responseStart == 0 { sending.responseStart = MonotonicClock.now }
            state.noteActivity(of: 1, at: engine.loop.now)
        }

        /// Ends the exchange with a stream's failure, or marks the request to be sent again.
        func receive(_ failure: HTTP2StreamFailure) throws(Fault) {
            if sending.responseHead == nil {
                let wasRefused = failure.isUnprocessed && sendCount <= Self.longestSeriesOfRefusals
                // The server closed an idle connection while the request was sent (RFC 9110, section 9.2.2).
                let wasLost =
                    failure.errorCode == nil && failure.fault.code == .connectionLost && sending.wasReused
                    && sendCount <= 1 && head.method.isIdempotent
                if wasRefused || wasLost, rewindBody() { return sending.mustSendAgain = true }
            }
            throw failure.fault
        }
    }
#endif
