#if os(Linux)
    extension PathTarget {
        /// The path at this moment. A name that has no address yet is looked up for the next time.
        func currentPath() -> NetworkPath {
            let destinations = destinations
            if let resolver, destinations == Destination.internet { resolver.refresh() }
            do {
                return path(to: destinations, in: try KernelReader().table(for: destinations))
            } catch {
                return NetworkPath(status: .unknown(.refused(errorNumber: error.errorNumber)))
            }
        }
    }
#endif
