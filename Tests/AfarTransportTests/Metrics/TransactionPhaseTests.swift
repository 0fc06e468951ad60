import Foundation
import Testing

@testable import AfarTransport

struct TransactionPhaseTests {
    private let start = Date(timeIntervalSinceReferenceDate: 1000)

    private func metrics(_ change: (inout TransactionMetrics) -> Void) -> TransactionMetrics {
        var metrics = TransactionMetrics()
        metrics.fetchStartDate = start
        change(&metrics)
        return metrics
    }

    /// Returns each phase's name with its times in milliseconds, or with the reason why there are none.
    private func words(_ metrics: TransactionMetrics, isSecure: Bool) -> [String] {
        func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1000).rounded()) }
        return metrics.phases(isSecure: isSecure).map { phase in
            switch phase.time {
            case .none(let reason): "\(phase.name.rawValue): \(reason)"
            case .measured(let time):
                "\(phase.name.rawValue): \(milliseconds(time.lowerBound))-\(milliseconds(time.upperBound))"
            }
        }
    }

    private func at(_ milliseconds: Double) -> Date { start.addingTimeInterval(milliseconds / 1000) }

    private var whole: TransactionMetrics {
        metrics {
            $0.domainLookupStartDate = start
            $0.domainLookupEndDate = at(10)
            $0.connectStartDate = at(10)
            $0.secureConnectionStartDate = at(20)
            $0.secureConnectionEndDate = at(40)
            $0.connectEndDate = at(40)
            $0.requestStartDate = at(40)
            $0.responseStartDate = at(90)
            $0.responseEndDate = at(100)
        }
    }

    @Test func stagesAreConsecutive() {
        #expect(
            words(whole, isSecure: true)
                == ["DNS: 0-10", "Connect: 10-20", "TLS: 20-40", "Waiting: 40-90", "Body: 90-100"])
        #expect(abs(whole.duration - 0.1) < 1e-6)
    }

    @Test func plainHTTPHasNoTLS() {
        var plain = whole
        (plain.secureConnectionStartDate, plain.secureConnectionEndDate) = (nil, nil)
        #expect(words(plain, isSecure: false)[1...2] == ["Connect: 10-40", "TLS: none, this is plain HTTP"])
    }

    @Test func aReusedConnectionHasNoConnectStages() {
        let reused = metrics {
            $0.isReusedConnection = true
            $0.requestStartDate = at(1)
            $0.responseStartDate = at(5)
            $0.responseEndDate = at(6)
        }
        #expect(
            words(reused, isSecure: true) == [
                "Queued: 0-1", "DNS: connection reused", "Connect: connection reused", "TLS: connection reused",
                "Waiting: 1-5", "Body: 5-6",
            ])
    }

    @Test func aFailureEndsItsStage() {
        let refused = metrics {
            $0.domainLookupStartDate = start
            $0.domainLookupEndDate = at(3)
            $0.connectStartDate = at(3)
            $0.responseEndDate = at(9)
        }
        #expect(
            words(refused, isSecure: true)
                == ["DNS: 0-3", "Connect: 3-9", "TLS: not reached", "Waiting: not reached", "Body: not reached"])
    }

    @Test func rejectedTLSIsReported() {
        var refused = metrics {
            $0.domainLookupStartDate = start
            $0.domainLookupEndDate = at(3)
            $0.connectStartDate = at(3)
            $0.responseEndDate = at(9)
        }
        refused.remoteAddress = "192.0.2.7"
        #expect(words(refused, isSecure: true)[2] == "TLS: not negotiated, its time is in Connect")
        #expect(words(refused, isSecure: false)[2] == "TLS: none, this is plain HTTP")
    }

    @Test func unmeasuredStagesAreReported() {
        let coarse = metrics {
            $0.responseStartDate = at(5)
            $0.responseEndDate = at(7)
        }
        #expect(
            words(coarse, isSecure: true)
                == ["DNS: not measured", "Connect: not measured", "TLS: not measured", "Waiting: 0-5", "Body: 5-7"])
        #expect(words(TransactionMetrics(), isSecure: false).count == 5)
        #expect(TransactionMetrics().duration == 0)
    }

    @Test func aClockSetBackIsHandled() {
        let odd = metrics {
            $0.requestStartDate = at(-50)
            $0.responseStartDate = at(-100)
            $0.responseEndDate = at(-200)
        }
        #expect(words(odd, isSecure: false).contains("Body: 0-0"))
    }
}
