import Afar
import Foundation

extension Trial {
    /// Requests of all kinds to all kinds of servers, which are suspended, resumed and canceled at random moments.
    ///
    /// Any outcome is allowed, but each request must complete exactly once, and all connections must be closed at the
    /// end.
    static func storm(_ stage: Stage, requests: Int, seed: UInt64) -> Trial {
        Trial(title: "Storm", requests: requests, warmUp: requests / 2) { number, ledger in
            var dice = Dice(seed: seed, request: number)
            let request = Form.allCases.randomElement(using: &dice)?.request(on: stage, number, &dice, ledger)
            guard let request else { return }
            async let over: Void = request.over()
            for _ in 0..<Int.random(in: 0...6, using: &dice) {
                switch Int.random(in: 0..<10, using: &dice) {
                case 0: request.request.cancel()
                case 1...4: request.request.suspend()
                default: request.request.resume()
                }
                let pause = UInt64.random(in: 0...2_000_000, using: &dice)
                if Bool.random(using: &dice) { try? await Task.sleep(nanoseconds: pause) }
            }
            request.request.resume()
            await over
        }
    }
}

/// A running request, and a closure that waits for its completion.
private struct Running {
    let request: Request
    let over: @Sendable () async -> Void
}

/// The kinds of requests.
private enum Form: CaseIterable {
    case data, upload, download, stream

    func request(on stage: Stage, _ number: Int, _ dice: inout Dice, _ ledger: Ledger) -> Running {
        let url = Self.url(on: stage, &dice)
        let session = stage.session
        let interceptor = Bool.random(using: &dice) ? RetryPolicy(retryLimit: 2, exponentialBackoffScale: 0.001) : nil
        let impatient: Session.RequestModifier = { $0.timeoutInterval = 0.1 }
        switch self {
        case .data:
            let request = session.request(url, interceptor: interceptor, requestModifier: impatient)
            return Running(request) { await $0.observe(as: number, in: ledger, Self.classify) }
        case .upload:
            let body = Data(count: Int.random(in: 0...200_000, using: &dice))
            let request = session.upload(body, to: url, interceptor: interceptor, requestModifier: impatient)
            return Running(request) { await $0.observe(as: number, in: ledger, Self.classify) }
        case .download:
            let file = stage.folder.appending(path: "download-\(number % Trial.inFlight)")
            let request = session.download(url, interceptor: interceptor, requestModifier: impatient) { _, _ in
                (file, [.removePreviousFile])
            }
            return Running(request) { request in
                request.responseURL(queue: ledger.queue) { ledger.note(.handler, of: number, Self.classify($0.error)) }
                ledger.note(
                    .awaited, of: number, Self.classify(await request.serializingDownloadedFileURL().response.error))
            }
        case .stream:
            let request = session.streamRequest(url, interceptor: interceptor, requestModifier: impatient)
            return Running(request) { request in
                request.responseStream(on: ledger.queue) { stream in
                    guard case .complete(let completion) = stream.event else { return }
                    ledger.note(.handler, of: number, Self.classify(completion.error))
                }
                var error: AFError?
                for await stream in request.streamTask().streamingData() { error = stream.completion?.error ?? error }
                ledger.note(.awaited, of: number, Self.classify(error))
            }
        }
    }

    private static func url(on stage: Stage, _ dice: inout Dice) -> String {
        let paths = ["/record", "/text", "/500", "/busy", "/redirect", "/private", "/large"]
        let scripts: [Script] = [
            .closesBeforeTheHead, .closesWithinTheBody, .resetsWithinTheBody, .redirects, .drips, .keepsSilent,
        ]
        return Bool.random(using: &dice)
            ? stage.url(paths.randomElement(using: &dice) ?? "/record")
            : stage.scripts.url(scripts.randomElement(using: &dice) ?? .drips)
    }

    private static func classify(_ result: AFResult<Record>) -> Ledger.Outcome {
        switch result {
        case .success(let record) where record.answer == Record.answer: classify(nil)
        case .success(let record): .unexpected("the answer was \(record.answer)")
        case .failure(let error): classify(error)
        }
    }

    private static func classify(_ error: AFError?) -> Ledger.Outcome {
        switch error {
        case nil: .expected("succeeded")
        case .explicitlyCancelled: .expected("cancelled")
        case .sessionTaskFailed(let error as URLError) where error.code == .unknown: .unexpected("\(error)")
        case .sessionTaskFailed: .expected("failed in transit")
        default: .expected("rejected the response")
        }
    }
}

extension Running {
    init<Kind: Request>(_ request: Kind, _ over: @escaping @Sendable (Kind) async -> Void) {
        // The servers that send a challenge accept this credential immediately.
        request.authenticate(username: "ada", password: "engine")
        self.init(request: request) { await over(request) }
    }
}
