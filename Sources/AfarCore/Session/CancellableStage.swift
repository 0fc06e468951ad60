import AfarTransport

/// A stage of a user's, whose waiting ends with the request, or its total timeout, whether or not its code heeds that.
struct CancellableStage: ExchangeStage {
    private let stage: any ExchangeStage

    init(_ stage: any ExchangeStage) { self.stage = stage }

    func begin(_ hop: Hop) -> (any StageRun)? { stage.begin(hop).map(Run.init) }

    private struct Run: StageRun {
        let run: any StageRun

        func before(_ hop: Hop) -> Reply<Departure> {
            run.before(hop).limited(by: hop, ifCancelled: .send, ifLate: { .fail($0) })
        }

        func head(_ head: ResponseHead, of hop: Hop) -> Reply<Disposition> {
            run.head(head, of: hop).limited(by: hop, ifCancelled: .pass, ifLate: { .fail($0) })
        }

        func failed(_ error: any Error, of hop: Hop) -> Reply<Rescue> {
            run.failed(error, of: hop).limited(by: hop, ifCancelled: .fail(error), ifLate: { .fail($0) })
        }

        func ended(_ hop: Hop, with result: Result<TransportResponse, any Error>?) { run.ended(hop, with: result) }
    }
}

extension Reply {
    fileprivate func limited(
        by hop: Hop, ifCancelled cancelled: Answer, ifLate late: @escaping @Sendable (TransportError) -> Answer
    ) -> Reply {
        guard case .wait(let work) = self else { return self }
        return .wait {
            let isLimited = hop.exchange.options.totalTimeout < 1e9
            return await withCancellableTask(
                ifCancelled: cancelled, timeout: isLimited ? (hop.timeLeft, { late(hop.timeout) }) : nil, work)
        }
    }
}
