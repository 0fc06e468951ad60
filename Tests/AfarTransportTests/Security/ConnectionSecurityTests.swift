import Foundation
import TestServers
import TestSupport
import Testing

@testable import AfarTransport

@Suite(.timeLimit(.minutes(1))) struct ConnectionSecurityTests {
    private struct Rejection: Error {}

    private let security = ConnectionSecurity(identity: nil, evaluation: { _, _ in })
    private let trust = ServerTrust(
        host: "example.com", certificates: [], authorities: CertificateAuthorities(file: nil))

    private func chain(_ number: UInt8, _ response: UInt8? = nil) -> PresentedChain {
        PresentedChain(certificates: [Data([number])], stapledOCSPResponse: response.map { Data([$0]) })
    }

    private func isAccepted(_ decision: ConnectionSecurity.Decision) -> Bool {
        if case .accepted = decision { true } else { false }
    }

    @Test func onlyAcceptedChainsAreAcceptedAgain() async {
        #expect(!security.accepts(chain(1)))
        #expect(isAccepted(await security.decide(on: chain(1)) { .success(trust) }))
        #expect(security.accepts(chain(1)) && !security.accepts(chain(2)))
        // The OCSP response is ignored, because it differs between machines and is renewed.
        #expect(security.accepts(chain(1, 1)))
        let refused = await security.decide(on: chain(2)) { .failure(Rejection()) }
        guard case .refused(let error) = refused else {
            Issue.record("\(refused)")
            return
        }
        #expect(error is Rejection && !security.accepts(chain(2)))
    }

    @Test func onlyTheLatestChainsAreCached() async {
        let chains = (0..<257).map {
            PresentedChain(certificates: [Data([UInt8($0 % 256)]), Data([UInt8($0 / 256)])], stapledOCSPResponse: nil)
        }
        for chain in chains.dropLast() { _ = await security.decide(on: chain) { .success(trust) } }
        #expect(security.accepts(chains[0]))
        _ = await security.decide(on: chains[256]) { .success(trust) }
        #expect(security.accepts(chains[0]) && !security.accepts(chains[1]) && security.accepts(chains[256]))
    }

    @Test func certificateBoundariesMatter() {
        let (one, other) = (Data([1, 2]), Data([3]))
        let chain = PresentedChain(certificates: [one, other], stapledOCSPResponse: nil)
        #expect(chain.id != PresentedChain(certificates: [one + other], stapledOCSPResponse: nil).id)
        #expect(chain.id != PresentedChain(certificates: [Data([1]), Data([2, 3])], stapledOCSPResponse: nil).id)
    }

    #if os(Linux)
        @Test func unhashableChainsAreDistinguished() throws {
            try withoutHashFunctions {
                let (one, other) = (Data([1, 2, 3]), Data([4]))
                let lists: [[Data]] = [[], [one], [other], [one, other], [other, one], [one + other], [Data(), one]]
                let ids = lists.map { PresentedChain(certificates: $0, stapledOCSPResponse: nil).id }
                #expect(Set(ids).count == ids.count)
                #expect(chain(1).id == chain(1, 1).id && chain(1).id != chain(2).id)
            }
            #expect(chain(1).id != (try withoutHashFunctions { chain(1).id }))
        }
    #endif

    @Test func concurrentCallersWaitForTheDecision() async {
        let (gate, requested) = (Deferred<Void>(), Locked(0))
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    let decision = await security.decide(on: chain(1)) {
                        requested.withLock { $0 += 1 }
                        await gate.value
                        return .success(trust)
                    }
                    return isAccepted(decision)
                }
            }
            try? await waitWhile { requested.withLock({ $0 }) == 0 }
            gate.fulfill(())
            for await isAccepted in group { #expect(isAccepted) }
        }
        #expect(requested.withLock { $0 } == 1)
    }

    @Test func cancellingTheDeciderSelectsAnother() async {
        let (gate, requested) = (Deferred<Void>(), Locked(0))
        let first = Task {
            await security.decide(on: chain(1)) {
                requested.withLock { $0 += 1 }
                await gate.value
                return .failure(ConnectionSecurity.Abandonment())
            }
        }
        try? await waitWhile { requested.withLock({ $0 }) == 0 }
        let second = Task { await security.decide(on: chain(1)) { .success(trust) } }
        gate.fulfill(())
        guard case .abandoned = await first.value else {
            Issue.record("the first decision is reused")
            return
        }
        #expect(isAccepted(await second.value))
    }

    @Test func waitersCanBeCancelled() async {
        let (gate, requested) = (Deferred<Void>(), Locked(0))
        let first = Task {
            await security.decide(on: chain(1)) {
                requested.withLock { $0 += 1 }
                await gate.value
                return .success(trust)
            }
        }
        try? await waitWhile { requested.withLock({ $0 }) == 0 }
        let second = Task { await security.decide(on: chain(1)) { .success(trust) } }
        second.cancel()
        guard case .abandoned = await second.value else {
            Issue.record("the request waits for the first decision")
            return
        }
        gate.fulfill(())
        #expect(isAccepted(await first.value))
    }
}
