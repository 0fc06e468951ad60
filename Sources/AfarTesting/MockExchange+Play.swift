import AfarCore
import Foundation
import HTTPTypes

/// The worker: what a server and the way to it would do, step by step.
extension MockExchange {
    func play() async {
        do {
            await suspension.pass()
            enter(.sending)
            let request = MockRequest(exchange: exchange, body: try await body())
            enter(.awaitingResponse)
            let response = try await handler(request)
            try await Task.sleep(for: response.delay.clampedToClock)
            if let code = response.failure, response.bytesBeforeFailure == nil {
                return fail(code, response.failureMessage)
            }
            try await deliver(response)
        } catch let error as TransportError {
            end(.failure(error))
        } catch let error as URLError {
            fail(TransportError.Code(error.code), "the mock's closure failed", because: error)
        } catch {
            fail(.unknown, "the mock's closure failed", because: error)
        }
    }

    private func body() async throws -> Data {
        try await exchange.collectBody { count in
            if case .stream = exchange.body { await suspension.pass() }
            tellSent(count)
        }
    }

    private func tellSent(_ count: Int) {
        guard !isOver else { return }
        note { $0.transactions[0].countOfRequestBodyBytesSent = Int64(count) }
        exchange.observer?.exchangeDidSend(bytes: Int64(count), expected: exchange.body.length)
    }

    private func deliver(_ response: MockResponse) async throws {
        await suspension.pass()
        for informational in response.informationalResponses where !isOver {
            exchange.observer?.exchangeDidReceiveInformational(
                ResponseHead(status: informational.status, fields: informational.fields, url: exchange.responseURL))
        }
        guard response.informationalResponses.count <= exchange.options.maximumInformationalResponses else {
            return fail(
                .headTooLarge,
                "more informational responses came than \(exchange.options.maximumInformationalResponses)")
        }
        guard !isOver else { return }
        var fields = response.fields
        let hasFraming = fields[.contentLength] != nil || fields[.transferEncoding] != nil
        if !hasFraming, response.status >= 200, response.status != 204, response.status != 304 {
            fields[.contentLength] = String(response.body.count)
        }
        let head = ResponseHead(status: response.status, fields: fields, url: exchange.responseURL)
        note { $0.transactions[0].responseStartDate = Date() }
        exchange.observer?.exchangeDidReceiveHead(head)
        let decision = await exchange.headArrived(head).settled()
        guard !isOver else { return }
        var delivery = exchange.delivery
        switch decision {
        case .take(.file(let descriptor, let limit)):
            if case .file = delivery { delivery = .file(descriptor: descriptor, limit: limit) }
        case .take, .ask: break
        case .discard: return end(.success(TransportResponse(head: head, body: .data(Data()))))
        case .refuse(let error): return end(.failure(TransportError(refused: exchange.url, because: error)))
        }
        enter(.receiving)
        var body = exchange.request.method == .head ? Data() : response.body
        if response.failure != nil { body = body.prefix(max(0, response.bytesBeforeFailure ?? 0)) }
        open(MockSink(delivery))
        if case .stream(let highWaterMark) = exchange.delivery {
            let (stream, source) = ResponseBodyStream.make(
                highWaterMark: highWaterMark,
                onDemand: { [demand] in demand.open() },
                onCancel: { [weak self] in self?.fail(.cancelled, "reading the body was cancelled") }
            )
            open(.stream(source))
            answerEarly(head, stream)
        }
        try await deliver(body, in: response.chunkSize ?? body.count, every: response.chunkDelay, head)
        if let code = response.failure { return fail(code, "the mock was told to break off") }
        note { $0.trailers = response.trailers }
        end(.success(self.body.map { TransportResponse(head: head, body: $0) }))
    }

    private func deliver(
        _ body: Data, in size: Int, every delay: Duration, _ head: ResponseHead
    ) async throws {
        var rest = body
        var total: Int64 = 0
        while !rest.isEmpty, !isOver {
            if delay > .zero { try await Task.sleep(for: delay.clampedToClock) }
            await suspension.pass()
            let chunk = rest.prefix(max(size, 1))
            rest = rest.dropFirst(chunk.count)
            total += Int64(chunk.count)
            if let limit = exchange.delivery.limit, total > limit {
                return fail(.responseTooLarge, "the body has more than \(limit) bytes")
            }
            if let failure = add(Data(chunk)) {
                return fail(.deliveryFailed, "the body could not be written", systemError: failure)
            }
            note { $0.transactions[0].countOfResponseBodyBytesAfterDecoding = total }
            if !isOver { exchange.observer?.exchangeDidReceive(bytes: total, expected: head.contentLength) }
            if let source {
                demand.close()
                if !source.isFull { demand.open() }
                await demand.pass()
            }
        }
    }
}
