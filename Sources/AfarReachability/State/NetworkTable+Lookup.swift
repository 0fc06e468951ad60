extension NetworkTable {
    /// The way to one destination.
    enum Way: Equatable {
        /// The usable hops, the one that is used first.
        case found([FoundHop])
        case missing(NetworkPath.UnsatisfiedReason)
    }

    /// One hop of a route that was found.
    struct FoundHop: Equatable {
        var route: TableRoute
        var hop: TableRoute.Hop
    }

    /// Finds the way as the kernel would: rule by rule, in each table the longest prefix, and there the lowest metric. Other
    /// than the kernel, it passes over hops whose link does not work when there is an equally specific one that does: the
    /// kernel waits there for somebody to take the route away, which a network manager does soon.
    func way(to destination: Destination) -> Way {
        if needsAnswer(for: destination) { return answeredWay(to: destination) }
        var first: Way?
        var alternatives: [FoundHop] = []
        for group in groups(for: destination) {
            let way: Way =
                switch group {
                case .refused(let refusal): .missing(.routeRefused(refusal))
                case .routes(let routes): self.way(over: routes, to: destination)
                }
            if first == nil {
                first = way
                guard case .found = way, case .anywhere = destination else { return way }
            } else if case .found(let hops) = way {
                alternatives += hops
            }
        }
        guard case .found(let hops) = first else { return .missing(.noRoute) }
        return .found(hops + alternatives)
    }

    /// Whether the rules or the routes are beyond what is judged here, so that the kernel has to be asked too.
    func needsAnswer(for destination: Destination) -> Bool {
        rules.contains { $0.family == destination.family && $0.isBeyondJudgement }
            || routes.contains {
                $0.hasHiddenHops && destination.isCovered(by: $0.destination, length: $0.prefixLength)
            }
    }

    /// Routes that fit equally well, or a rule that refuses.
    private enum Group {
        case routes([TableRoute])
        case refused(NetworkPath.Refusal)
    }

    /// What fits, best first.
    private func groups(for destination: Destination) -> [Group] {
        var groups: [Group] = []
        var priority: UInt32 = 0
        for rule in rules where rule.family == destination.family && rule.priority >= priority {
            guard rule.applies(to: destination, userID: userID) else { continue }
            switch rule.action {
            case .nothing: continue
            case .goTo(let next):
                // The kernel leaps to a rule that is there, and ignores other goals.
                if rules.contains(where: { $0.family == rule.family && $0.priority == next }) {
                    priority = max(priority, next)
                }
            case .refuse(let refusal):
                groups.append(.refused(refusal))
                return groups
            case .lookUp(let table):
                groups += self.groups(in: table, for: destination, suppressed: rule.suppressedPrefixLength)
            }
        }
        return groups
    }

    private func groups(in table: UInt32, for destination: Destination, suppressed: Int?) -> [Group] {
        let fitting = routes.filter { route in
            route.table == table && destination.isCovered(by: route.destination, length: route.prefixLength)
                && isOnZone(route, of: destination)
        }
        var groups: [Group] = []
        for length in Set(fitting.map(\.prefixLength)).sorted(by: >) {
            let routes = fitting.filter { $0.prefixLength == length }.stablySorted { $0.metric < $1.metric }
            let living = routes.filter { $0.hops.isEmpty || $0.hops.contains { !$0.isDead } }
            // The kernel looks at the best route only, and leaves the table when that one says so or is left out. One that
            // refuses is never left out.
            guard let best = living.first else { continue }
            if best.kind == .throw || best.refusal == nil && length <= suppressed ?? -1 { break }
            groups.append(.routes(living))
        }
        return groups
    }

    /// Whether a route leaves by the interface that a link-local destination names.
    private func isOnZone(_ route: TableRoute, of destination: Destination) -> Bool {
        guard case .address(let address) = destination, let zone = address.zone else { return true }
        return route.hops.contains { hop in
            links[hop.link]?.name == zone || String(hop.link) == zone
        }
    }

    /// What comes of asking the kernel. It answers with routes whose link has no carrier too, so its answer is judged.
    private func answeredWay(to destination: Destination) -> Way {
        switch answers[destination.sample] {
        case .route(let route): way(over: [route], to: destination)
        case .refused(let number): .missing(NetworkPath.UnsatisfiedReason(routingError: number))
        case nil: .missing(.noRoute)
        }
    }
}

extension Sequence {
    func stablySorted(by areInIncreasingOrder: (Element, Element) -> Bool) -> [Element] {
        enumerated().sorted { first, second in
            if areInIncreasingOrder(first.element, second.element) { return true }
            if areInIncreasingOrder(second.element, first.element) { return false }
            return first.offset < second.offset
        }.map(\.element)
    }
}
