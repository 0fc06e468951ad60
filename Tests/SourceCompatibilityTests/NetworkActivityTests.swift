import Afar
import AfarNetworkActivity
import Testing

/// The network activity indicator, configured as at the launch of an app.
@MainActor
@Suite struct NetworkActivityTests {
    @MainActor
    private final class Indicator {
        var isSpinning = false
    }

    @Test func anAppTurnsTheIndicatorOn() {
        let indicator = Indicator()
        let manager = NetworkActivityIndicatorManager.shared
        manager.startDelay = 1.0
        manager.completionDelay = 0.2
        manager.networkActivityIndicatorVisibilityChanged = { [weak indicator] isVisible in
            MainActor.assumeIsolated { indicator?.isSpinning = isVisible }
        }
        manager.isEnabled = true
        manager.incrementActivityCount()
        #expect(!manager.isNetworkActivityIndicatorVisible)
        manager.decrementActivityCount()
        manager.isEnabled = false
        #expect(!indicator.isSpinning)
        manager.networkActivityIndicatorVisibilityChanged = nil
    }
}
