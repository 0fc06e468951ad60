import AfarTransport
import TestSupport
import Testing

@Suite struct ExchangeControlTests {
    @Test func aChangeDuringANotificationIsReportedAfterIt() {
        let control = ExchangeControl()
        let reported = Locked<[Bool]>([])
        control.attach { isSuspended in
            if isSuspended { control.resume() }
            reported.withLock { $0.append(isSuspended) }
        }
        control.suspend()
        #expect(reported.withLock { $0 } == [true, false])
        #expect(!control.isSuspended)
        // Breaks the retain cycle between the control and the closure.
        control.attach(nil)
    }

    /// The transport may have read the state between the two changes, so it must be notified again.
    @Test func cancelingChangesDuringANotificationAreReported() {
        let control = ExchangeControl()
        let reported = Locked<[Bool]>([])
        control.attach { isSuspended in
            if reported.withLock({ $0.isEmpty }) {
                control.resume()
                control.suspend()
            }
            reported.withLock { $0.append(isSuspended) }
        }
        control.suspend()
        #expect(reported.withLock { $0 } == [true, true])
        control.attach(nil)
    }

    @Test func cancelingChangesWithoutAListenerAreNotReported() {
        let control = ExchangeControl()
        control.suspend()
        control.resume()
        let reported = Locked<[Bool]>([])
        let wasSuspended = control.attach { isSuspended in reported.withLock { $0.append(isSuspended) } }
        #expect(!wasSuspended)
        control.resume()
        #expect(reported.withLock { $0.isEmpty })
    }

    @Test func noNotificationFollowsTheEnd() {
        let control = ExchangeControl()
        let reported = Locked(0)
        control.attach { _ in reported.withLock { $0 += 1 } }
        control.suspend()
        control.attach(nil)
        control.resume()
        #expect(reported.withLock { $0 } == 1)
    }

    @Test func aDetachedListenerIsReleasedOutsideTheLock() async {
        let control = ExchangeControl()
        let didLook = Deferred<Bool>()
        do {
            let probe = DeinitProbe(didLook) { control.resume() }
            control.attach { _ in withExtendedLifetime(probe) {} }
        }
        control.attach(nil)
        #expect(await didLook.value)
    }
}
