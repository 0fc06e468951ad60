#if os(Linux)
    /// The number that messages of the kernel's wireless part have as their type, once it is known. It stays the same for as
    /// long as that part is loaded.
    final class WirelessFamily: Sendable {
        /// What is known in this process.
        static let shared = WirelessFamily()

        private let known = Locked<UInt16?>(nil)

        var number: UInt16? {
            get { known.withLock { $0 } }
            set { known.withLock { $0 = newValue } }
        }
    }
#endif
