public import AfarCore
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Session {
    /// Returns the pages of a collection as a sequence.
    ///
    /// ```swift
    /// for try await page in session.pages("https://api.example.com/users", serializing: .decodable(of: [User].self)) {
    ///     print(page.number, page.value.count)
    /// }
    /// ```
    ///
    /// See ``pages(_:serializing:next:limit:interceptor:prepare:)`` for details.
    ///
    /// - Parameters:
    ///   - url: The URL of the first page.
    ///   - headers: The headers of all requests. The default is none.
    ///   - serializer: The serializer of the pages.
    ///   - pagination: How to find the next page. The default is the link with the relation type `next`.
    ///   - limit: The maximum number of pages. The default is 1,000.
    ///   - interceptor: The interceptor of all requests. The default is nil.
    ///   - prepare: A closure that changes each request. By default, it adds the default validation.
    @preconcurrency
    public func pages<Serializer: ResponseSerializer>(
        _ url: any URLConvertible,
        headers: HTTPHeaders? = nil,
        serializing serializer: Serializer,
        next pagination: Pagination<Serializer.SerializedObject> = .links(),
        limit: Int = 1_000,
        interceptor: (any RequestInterceptor)? = nil,
        prepare: @escaping @Sendable (DataRequest) -> Void = { $0.validate() }
    ) -> PageSequence<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        PageSequence(
            session: self, serializer, PageRequests(pagination, limit: limit), interceptor: interceptor,
            prepare: prepare
        ) { session in
            session.request(url, headers: headers, interceptor: interceptor, shouldAutomaticallyResume: true)
        }
    }

    /// Returns the pages of a collection as a sequence.
    ///
    /// Each iteration starts with the first page. A page is requested when the iteration requires it, and canceling the iterating
    /// task cancels its request. If a request fails, the iteration throws its ``AfarCore/AFError`` and ends. If the next page can't
    /// be requested, the iteration throws a ``PaginationError`` after it has returned all earlier pages.
    ///
    /// - Parameters:
    ///   - convertible: The request for the first page. Later pages are requested with the same headers and timeout.
    ///   - serializer: Creates the value of each page.
    ///   - pagination: Finds the request for the next page. The default follows the `Link` headers with the relation type "next".
    ///   - limit: The maximum number of pages. If the server has more pages, the iteration throws
    ///     ``PaginationError/tooManyPages(limit:)`` after this number. The default is 1,000.
    ///   - interceptor: Adapts and retries each request. The default is nil.
    ///   - prepare: Called with each request before it starts, for example to add validators. The default requires an acceptable
    ///     response (``AfarCore/Request/validate()``).
    @preconcurrency
    public func pages<Serializer: ResponseSerializer>(
        _ convertible: any URLRequestConvertible,
        serializing serializer: Serializer,
        next pagination: Pagination<Serializer.SerializedObject> = .links(),
        limit: Int = 1_000,
        interceptor: (any RequestInterceptor)? = nil,
        prepare: @escaping @Sendable (DataRequest) -> Void = { $0.validate() }
    ) -> PageSequence<Serializer.SerializedObject> where Serializer.SerializedObject: Sendable {
        PageSequence(
            session: self, serializer, PageRequests(pagination, limit: limit), interceptor: interceptor,
            prepare: prepare
        ) { session in
            session.request(convertible, interceptor: interceptor, shouldAutomaticallyResume: true)
        }
    }
}

/// The pages of a collection, each of which is requested when the iteration requires it.
/// ``AfarCore/Session/pages(_:serializing:next:limit:interceptor:prepare:)`` returns it.
public struct PageSequence<Value: Sendable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = Page<Value>

    private let session: Session
    /// The state at the start of an iteration.
    private let requests: PageRequests<Value>
    private let interceptor: (any RequestInterceptor)?
    private let prepare: @Sendable (DataRequest) -> Void
    private let firstRequest: @Sendable (Session) -> DataRequest
    private let response: @Sendable (DataRequest) async -> AFDataResponse<Value>

    fileprivate init<Serializer: ResponseSerializer>(
        session: Session, _ serializer: Serializer, _ requests: PageRequests<Value>,
        interceptor: (any RequestInterceptor)?, prepare: @escaping @Sendable (DataRequest) -> Void,
        firstRequest: @escaping @Sendable (Session) -> DataRequest
    ) where Serializer.SerializedObject == Value {
        self.session = session
        self.requests = requests
        self.interceptor = interceptor
        self.prepare = prepare
        self.firstRequest = firstRequest
        response = { await $0.serializing(serializer).response }
    }

    /// Returns an iterator that starts with the first page.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pages: self, requests: requests) }

    /// Returns the elements of all pages as a sequence.
    ///
    /// - Parameter elements: Returns the elements of a page, such as `\.items`.
    @preconcurrency
    public func elements<Elements: Sequence>(
        _ elements: @escaping @Sendable (Value) -> Elements
    ) -> PageElements<Value, Elements> {
        PageElements(pages: self, elements: elements)
    }

    /// An iterator over pages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let pages: PageSequence
        fileprivate var requests: PageRequests<Value>
        private var last: Page<Value>?
        private var hasEnded = false

        fileprivate init(pages: PageSequence, requests: PageRequests<Value>) {
            self.pages = pages
            self.requests = requests
        }

        /// Requests the next page. Returns nil after the last page, and after an error.
        public mutating func next() async throws -> Page<Value>? { try await next(isolation: nil) }

        /// Requests the next page. Returns nil after the last page, and after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Page<Value>? {
            guard !hasEnded else { return nil }
            // The iteration ends unless this method returns a page.
            hasEnded = true
            guard let request = try nextRequest() else { return nil }
            if Task.isCancelled { request.cancel() }
            let response = await pages.response(request)
            let page = Page(
                value: try response.result.get(), response: response.response, number: (last?.number ?? 0) + 1)
            if last == nil { requests.begin(with: request.firstRequest) }
            last = page
            hasEnded = false
            return page
        }

        private mutating func nextRequest() throws -> DataRequest? {
            let session = pages.session
            guard let last else {
                let request = pages.firstRequest(session)
                pages.prepare(request)
                return request
            }
            guard let next = try requests.next(after: last) else { return nil }
            guard !requests.keepsCredentials else {
                let request = session.request(next, interceptor: pages.interceptor, shouldAutomaticallyResume: true)
                pages.prepare(request)
                return request
            }
            // Apply the filter twice. If the session starts requests immediately, it adapts each request when the request is created. In
            // other sessions, `prepare` can add adapters that run after the first filter.
            let filter = CredentialFilter(session.configuration.sensitiveHeaders)
            let interceptor = Interceptor(interceptors: [pages.interceptor, filter].compactMap { $0 })
            let request = session.request(next, interceptor: interceptor, shouldAutomaticallyResume: true)
            pages.prepare(request)
            filter.apply(to: request)
            return request
        }
    }
}

extension PageSequence where Value: Sequence {
    /// The elements of all pages as a sequence.
    public var elements: PageElements<Value, Value> { elements { $0 } }
}

/// The elements of all pages of a collection.
public struct PageElements<Value: Sendable, Elements: Sequence>: AsyncSequence, Sendable {
    /// An element of a page.
    public typealias Element = Elements.Element

    fileprivate let pages: PageSequence<Value>
    fileprivate let elements: @Sendable (Value) -> Elements

    /// Returns an iterator that starts with the first page.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(pages: pages.makeAsyncIterator(), elements: elements)
    }

    /// An iterator over the elements of pages.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var pages: PageSequence<Value>.AsyncIterator
        fileprivate let elements: @Sendable (Value) -> Elements
        private var rest: Elements.Iterator?

        fileprivate init(pages: PageSequence<Value>.AsyncIterator, elements: @escaping @Sendable (Value) -> Elements) {
            self.pages = pages
            self.elements = elements
        }

        /// Returns the next element. Requests another page if all elements of the current page have been returned.
        public mutating func next() async throws -> Elements.Element? { try await next(isolation: nil) }

        /// Returns the next element. Requests another page if all elements of the current page have been returned.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Elements.Element? {
            while true {
                if let element = rest?.next() { return element }
                guard let page = try await pages.next(isolation: actor) else { return nil }
                rest = elements(page.value).makeIterator()
            }
        }
    }
}
