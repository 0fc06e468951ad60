import AfarTransport
import TestSupport
import Testing

@Suite struct ExchangeControlTests {
    @Test func aChangeMadeWhileOneIsBeingToldIsToldAfterIt() {
        let control = ExchangeControl()
        let told = Locked<[Bool]>([])
        control.attach { isSuspended in
            if isSuspended { control.resume() }
            told.withLock { $0.append(isSuspended) }
        }
        control.suspend()
        #expect(told.withLock { $0 } == [true, false])
        #expect(!control.isSuspended)
        // Breaks the retain cycle between the control and the closure.
        control.attach(nil)
    }

    /// The transport may have read the state between the two changes, so it must be notified again.
    @Test func changesThatCancelEachOutWhileOneIsBeingToldAreTold() {
        let control = ExchangeControl()
        let told = Locked<[Bool]>([])
        control.attach { isSuspended in
            if told.withLock({ $0.isEmpty }) {
                control.resume()
                control.suspend()
            }
            told.withLock { $0.append(isSuspended) }
        }
        control.suspend()
        #expect(told.withLock { $0 } == [true, true])
        control.attach(nil)
    }

    @Test func changesThatCancelEachOutBeforeAnybodyListensAreNotTold() {
        let control = ExchangeControl()
        control.suspend()
        control.resume()
        let told = Locked<[Bool]>([])
        let wasSuspended = control.attach { isSuspended in told.withLock { $0.append(isSuspended) } }
        #expect(!wasSuspended)
        control.resume()
        #expect(told.withLock { $0.isEmpty })
    }

    @Test func nobodyIsToldAfterTheEnd() {
        let control = ExchangeControl()
        let told = Locked(0)
        control.attach { _ in told.withLock { $0 += 1 } }
        control.suspend()
        control.attach(nil)
        control.resume()
        #expect(told.withLock { $0 } == 1)
    }

    @Test func whoIsNotNotifiedAnyMoreIsReleasedWithoutTheLock() async {
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
