#if os(Linux)
    extension PathTarget {
        /// How old what is known of a name may be.
        private static let age = Duration.seconds(5)

        /// The path at this moment. A name is looked up for the next time, if that was not done lately.
        func currentPath() -> NetworkPath {
            let destinations = destinations
            resolver?.refresh(after: Self.age)
            do {
                return path(to: destinations, in: try KernelReader().table(for: destinations))
            } catch {
                return NetworkPath(status: .unknown(.refused(errorNumber: error.errorNumber)))
            }
        }
    }
#endif
