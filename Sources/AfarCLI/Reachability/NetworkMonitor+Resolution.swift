import Afar

extension NetworkMonitor {
    /// The path once the target's name has an address, or as it is when the timeout has passed.
    func resolvedPath(timeout: Duration) async -> NetworkPath {
        await withTaskGroup(of: NetworkPath?.self) { group in
            group.addTask {
                for await path in self.paths {
                    guard case .unknown(.nameNotResolved) = path.status else { return path }
                }
                return nil
            }
            group.addTask {
                try? await Task.sleep(for: timeout)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next()?.flatMap(\.self) ?? self.currentPath
        }
    }
}
