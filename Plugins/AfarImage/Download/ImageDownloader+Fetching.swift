import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension ImageDownloader {
    /// Has somebody wait for a fetch, which is made if there is none.
    ///
    /// - Returns: The request of the fetch.
    func fetch(
        _ urlRequest: URLRequest, _ key: ImageFetch.Key, _ serializer: ImageResponseSerializer,
        _ credential: URLCredential?, _ waiter: ImageFetch.Waiter
    ) -> DataRequest {
        if let request = fetches.withLock({ $0.join(key, waiter) }) { return request }
        // Not under the lock, as a session may be anybody's subclass. Another thread may have been faster meanwhile.
        let request = session.request(urlRequest, shouldAutomaticallyResume: false)
        let (joined, id) = fetches.withLock { fetches -> (DataRequest?, UInt64) in
            if let joined = fetches.join(key, waiter) { return (joined, 0) }
            return (nil, fetches.add(key, request, waiter))
        }
        if let joined {
            request.cancel()
            return joined
        }
        if let credential { request.authenticate(with: credential) }
        request.validate()
        request.downloadProgress(queue: workQueue) { [self] progress in
            for waiter in fetches.withLock({ $0.waiters(key, id) }) { waiter.report?(progress) }
        }
        request.response(queue: workQueue, responseSerializer: serializer) { [self] in end(key, id, $0) }
        for request in fetches.withLock({ $0.enqueue(key, id) }) { request.resume() }
        return request
    }

    /// The request of a fetch has ended.
    private func end(_ key: ImageFetch.Key, _ id: UInt64, _ response: AFDataResponse<Image>) {
        fetches.withLock { $0.endLoading(key, id) }
        guard let image = response.value else {
            let failure = response.mapError { AFIError($0) }
            let (fetch, next) = fetches.withLock { $0.end(key, id) }
            for waiter in fetch?.waiters ?? [] { waiter.complete(failure) }
            for request in next { request.resume() }
            return
        }
        var filtered: [String: Image] = [:]
        // Others may come while filters run; who comes later finds the image in the cache.
        var isOver = false
        while !isOver {
            let waiters = fetches.withLock { $0.takeWaiters(key, id) }
            for waiter in waiters {
                let result = waiter.filter.map { filter in
                    let result = filtered[filter.identifier] ?? filter.filter(image)
                    filtered[filter.identifier] = result
                    return result
                }
                let wanted = result ?? image
                waiter.keep(wanted)
                waiter.complete(response.map { _ in wanted }.mapError { AFIError($0) })
            }
            guard waiters.isEmpty else { continue }
            let (fetch, next) = fetches.withLock { fetches in
                fetches.waiters(key, id).isEmpty ? fetches.end(key, id) : (nil, [])
            }
            for request in next { request.resume() }
            isOver = fetch != nil
        }
    }
}
