#if os(Linux)
    extension NetworkInterface {
        /// All interfaces, whether they work or not, by their number. Linux only.
        ///
        /// - Throws: ``ReachabilityError`` when the system does not tell.
        public static func all() throws(ReachabilityError) -> [NetworkInterface] {
            let table = try KernelReader().table()
            return table.links.keys.sorted().compactMap(table.interface)
        }
    }

    extension NetworkRoute {
        /// All routes of all tables, in the system's order. Linux only.
        ///
        /// - Throws: ``ReachabilityError`` when the system does not tell.
        public static func all() throws(ReachabilityError) -> [NetworkRoute] {
            let table = try KernelReader().table()
            return table.routes.flatMap { route in
                route.hops.isEmpty
                    ? [table.networkRoute(route, hop: nil)] : route.hops.map { table.networkRoute(route, hop: $0) }
            }
        }
    }
#endif
